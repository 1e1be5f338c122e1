#include <gtest/gtest.h>
#include <polytile/polytile.h>

#include <vector>

extern "C" {
#include "launch/device/fill.h"
}

/* How many threads fill a device, as plans for it know. */

namespace {

int launch_nothing(const polytile_sub_kernel *) {
    return 0;
}

TEST(Fill, IsKnownOfAllButLaunchersThatDoNotSayByHowManyThreadsTheyRunOne) {
    polytile_device host = {}, gpu = {};
    polytile_implementation kernel = {}, launcher = {}, says = {};
    const polytile_plan_options any = {};
    host.fill_threads = 16;
    gpu.fill_threads = 270336;
    gpu.cuda_capability = 90;
    launcher.cuda_launcher = says.cuda_launcher = launch_nothing;
    says.cuda_lanes = 256;
    EXPECT_EQ(pti_device_planned_fill_threads(&host, &kernel, &any), 16);
    EXPECT_EQ(pti_device_planned_fill_threads(&host, &launcher, &any), 16);
    EXPECT_EQ(pti_device_planned_fill_threads(&gpu, &kernel, &any), 270336);
    EXPECT_EQ(pti_device_planned_fill_threads(&gpu, &launcher, &any), 0);
    EXPECT_EQ(pti_device_planned_fill_threads(&gpu, &says, &any), 1056);
    EXPECT_EQ(pti_device_fill_threads(&gpu, &launcher), 270336);
}

TEST(Fill, IsAsTheOptionsSay) {
    polytile_device gpu = {};
    polytile_implementation says = {};
    polytile_plan_options asked = {};
    gpu.fill_threads = 270336;
    gpu.cuda_capability = 90;
    says.cuda_launcher = launch_nothing;
    asked.fill_threads = 7;
    EXPECT_EQ(pti_device_planned_fill_threads(&gpu, &says, &asked), 7);
}

int add_up(const polytile_sub_kernel *launch) {
    const polytile_view *A = &launch->views[0], *s = &launch->views[1];
    for (int64_t i = launch->threads->range[0].lo; i <= launch->threads->range[0].hi; i++) {
        float sum = 0;
        for (int64_t j = A->array_first[1]; j <= A->array_last[1]; j++)
            sum += *reinterpret_cast<const float *>(static_cast<const char *>(A->origin) +
                                                    i * A->stride_bytes[0] + j * 4);
        *reinterpret_cast<float *>(static_cast<char *>(s->origin) + i * s->stride_bytes[0]) = sum;
    }
    return 0;
}

/** Rows of 4 KiB on a device of 16 threads, whose kernels take longer than all transfers. */
class RowsRun : public testing::Test {
  protected:
    void SetUp() override {
        polytile_implementation implementation = {};
        implementation.host_launcher = add_up;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(
            polytile_kernel_create(ctx, "rows[i]: in A[i, :]; out s[i]", &implementation, &kernel),
            POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "A", POLYTILE_F32, 2, extents, A.data(), &arrays[0]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "s", POLYTILE_F32, 1, extents, s.data(), &arrays[1]),
                  POLYTILE_OK);
        slow.kernel_bytes_per_s = 1e8;
        options.plan.link = &slow;
        options.plan.block = &one;
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    int64_t planned_kernels(int64_t fill_threads) {
        polytile_launch_options of_plan = options;
        polytile_plan *plan = nullptr;
        polytile_plan_summary summary = {};
        of_plan.plan.limit_bytes = 256 * 1024;
        of_plan.plan.fill_threads = fill_threads;
        EXPECT_EQ(polytile_plan_create(kernel, &threads, 2, arrays, &of_plan, &plan), POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_plan_get_summary(plan, &summary);
        return summary.n_kernels;
    }

    const int64_t extents[2] = {256, 1024}, one = 1;
    const polytile_domain threads = {1, {{0, 255, 1}}};
    std::vector<float> A = std::vector<float>(256 * 1024, 1), s = std::vector<float>(256);
    polytile_link slow = polytile_link_default;
    polytile_launch_options options = {};
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2] = {};
};

TEST_F(RowsRun, IsPlannedForTheThreadsOfItsDevice) {
    polytile_device *device = nullptr;
    polytile_report report = {};
    ASSERT_EQ(polytile_device_open(ctx, "host(memory=256KiB,threads=16)", &device), POLYTILE_OK);
    ASSERT_EQ(polytile_run(device, kernel, &threads, 2, arrays, &options), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_device_get_report(device, &report);
    EXPECT_EQ(report.n_kernels, planned_kernels(16));
    EXPECT_LT(report.n_kernels, planned_kernels(0));
    EXPECT_EQ(s, std::vector<float>(256, 1024));
}

TEST_F(RowsRun, OfANegativeNumberOfThreadsIsRefused) {
    polytile_plan *plan = nullptr;
    options.plan.fill_threads = -1;
    EXPECT_EQ(polytile_plan_create(kernel, &threads, 2, arrays, &options, &plan), POLYTILE_INVALID);
    EXPECT_STREQ(polytile_last_error(ctx),
                 "rows: -1 threads fill the device; it must be at least 1, or 0 if that is not "
                 "known");
}

} // namespace
