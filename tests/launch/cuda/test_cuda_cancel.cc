#include "support/fake_cuda.h"
#include "support/random.h"

#include <gtest/gtest.h>
#include <polytile/polytile.h>

/* Runs on a GPU that are cancelled between two sub-kernels. */

namespace {

/** A launcher that runs nothing, and cancels its run when it is called for the last time. */
struct Cancelling {
    static int run(const polytile_sub_kernel *launch) {
        Cancelling *of = static_cast<Cancelling *>(launch->user);
        if (--of->n_left == 0)
            polytile_device_cancel(of->device);
        return 0;
    }

    polytile_device *device;
    int n_left;
};

/** Transfers of pageable memory are looked ahead for, and those after the end never come. */
TEST(CudaCancel, ARunOverPageableMemoryEnds) {
    Random random(test_seed("CudaCancel.ARunOverPageableMemoryEnds"));
    const int64_t n = 4 << 20;
    for (int n_before = 1; n_before < 6; n_before++) {
        FakeCuda cuda(static_cast<uint64_t>(random.number(0, int64_t{1} << 62)));
        std::vector<float> memory(static_cast<size_t>(n), 1);
        Cancelling cancelling = {nullptr, n_before};
        polytile_implementation body = {};
        body.cuda_launcher = Cancelling::run;
        body.user = &cancelling;
        polytile_context *ctx = nullptr;
        polytile_kernel *kernel = nullptr;
        polytile_array *x = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "cuda:0(memory=1MiB,threads=64)", &cancelling.device),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_kernel_create(ctx, "scale[i]: inout x[i]", &body, &kernel), POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, memory.data(), &x),
                  POLYTILE_OK);
        const polytile_domain threads = polytile_domain_from_extents(1, &n);
        EXPECT_EQ(polytile_run(cancelling.device, kernel, &threads, 1, &x, nullptr),
                  POLYTILE_CANCELLED)
            << polytile_last_error(ctx);
        EXPECT_EQ(cancelling.n_left, 0);
        polytile_context_destroy(ctx);
        EXPECT_EQ(cuda.violations(), "");
        EXPECT_EQ(cuda.leaks(), "");
    }
}

} // namespace
