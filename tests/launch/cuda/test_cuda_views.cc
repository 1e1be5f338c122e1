#include "queue/view_program.h"
#include "support/environment.h"
#include "support/fake_cuda.h"
#include "support/scale.h"

#include <gtest/gtest.h>

/* Random programs on views of arrays, on a runtime that needs no GPU. */

namespace {

const char *const devices[] = {"cuda:0(memory=700B)", "cuda:0(memory=2KiB)", "cuda:0(memory=1MiB)",
                               "cuda:0(memory=2KiB),cuda:1(memory=2KiB)"};

TEST(CudaViews, ResultsAreThoseOfPlainLoops) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaViews.ResultsAreThoseOfPlainLoops"));
    int64_t n_run = 0, n_programs = 0;
    for (int64_t round = 0; round < scaled(40) && !HasFailure(); round++)
        for (const char *device : devices) {
            FakeCuda::Options options;
            options.n_devices = 2;
            FakeCuda cuda(static_cast<uint64_t>(random.number(0, INT32_MAX)), options);
            n_programs++;
            n_run += ViewProgram(&random).run_in_queue(device, [&](const ViewKernel &kernel) {
                cuda.add_kernel(&kernel, kernel.implementation());
            }) > 0;
            EXPECT_EQ(cuda.violations(), "");
        }
    EXPECT_GE(n_run, least_count(n_programs, 0.75));
}

} // namespace
