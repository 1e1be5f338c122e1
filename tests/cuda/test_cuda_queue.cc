#include "cuda/worlds.h"
#include "queue/program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

/* Queues on the CUDA device, on a runtime that needs no GPU. */

namespace {

/** What programs run, with symbols that stand for CUDA kernels. */
std::vector<polytile_implementation> cuda_implementations() {
    std::vector<polytile_implementation> made;
    for (const ProgramKernel &kernel : program_kernels()) {
        made.push_back(*kernel.implementation);
        made.back().cuda = reinterpret_cast<const void *>(kernel.implementation->host);
    }
    return made;
}

/** Launches that one random program ran; the seed is the streams' too. */
int64_t run_program(const std::string &device, uint64_t seed) {
    const std::vector<polytile_implementation> implementations = cuda_implementations();
    int64_t n_launched = 0;
    FakeCuda cuda(seed);
    for (const polytile_implementation &implementation : implementations)
        cuda.add_kernel(implementation.cuda, implementation);
    {
        Random random(seed);
        Program::Options options;
        options.n = random.one_of({5, 16, 24});
        options.n_steps = static_cast<int>(random.one_of({5, 30, 60}));
        options.implementations = &implementations;
        Program program(device, options, &random);
        program.run();
        n_launched = program.n_launched();
        EXPECT_EQ(cuda.n_pending(), 0);
        EXPECT_EQ(cuda.violations(), "");
    }
    EXPECT_EQ(cuda.leaks(), "");
    if (testing::Test::HasFailure())
        ADD_FAILURE() << device << " seed " << seed;
    return n_launched;
}

TEST(CudaQueue, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaQueue.ResultsAreThoseOfRunningInOrder"));
    int64_t n_launched = 0;
    for (int64_t round = 0; round < scaled(120) && !testing::Test::HasFailure(); round++) {
        const int64_t memory_bytes =
            random.one_of({1024, 2500, 6 << 10, 9 << 10, 14 << 10, 1 << 20});
        const std::string device = "cuda:0(memory=" + std::to_string(memory_bytes) +
                                   ",threads=" + std::to_string(random.number(1, 2)) + ")";
        n_launched +=
            run_program(device, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)));
    }
    EXPECT_GT(n_launched, 0);
}

} // namespace
