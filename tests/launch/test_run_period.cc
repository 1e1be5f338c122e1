#include "launch/scene.h"
#include "support/terminal.h"

#include <gtest/gtest.h>

#include <polytile/kernel.h>
#include <string>
#include <vector>

extern "C" {
#include "base/text.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

/* Plans with a period run as flat ones do, stretch by stretch. */

namespace {

POLYTILE_KERNEL(blur, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i - 1) + PT_AT(x, i + 1);
}

/** Some cases of cases.h, and the block and the limit by which they take many sub-kernels. */
struct Many {
    size_t number;
    int64_t n, block, limit_bytes;
};

class RunPeriod : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_device *Open(const std::string &text) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_device_open(ctx, text.c_str(), &device), POLYTILE_OK)
            << polytile_last_error(ctx);
        return device;
    }

    polytile_plan *Plan(Scene *scene, const Many &many, int n_buffers, const char *strategy) {
        polytile_plan *plan = nullptr;
        int64_t block[POLYTILE_MAX_DIMS] = {many.block, many.block, many.block};
        scene->options.plan.block = block;
        scene->options.plan.limit_bytes = many.limit_bytes;
        scene->options.plan.n_buffers = n_buffers;
        scene->options.plan.strategy = strategy;
        EXPECT_EQ(polytile_plan_create(scene->kernel, &scene->domain,
                                       static_cast<int>(scene->arrays.size()), scene->arrays.data(),
                                       &scene->options, &plan),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        return plan;
    }

    polytile_context *ctx = nullptr;
};

const Many cases[] = {{0, 60000, 4, 192}, {1, 60000, 4, 256}, {2, 600, 4, 768}};

TEST_F(RunPeriod, ResultsAndFiguresAreThoseOfThePlan) {
    Random random(test_seed("RunPeriod.ResultsAndFiguresAreThoseOfThePlan"));
    polytile_device *device = Open("host(memory=4KiB,threads=1)");
    for (const Many &many : cases) {
        for (const char *strategy : {"min-time", "min-traffic", "min-kernels"}) {
            const Case &of = all_cases()[many.number];
            SCOPED_TRACE(std::string(of.declaration) + " " + strategy);
            Scene scene(ctx, of, many.n, &random);
            polytile_plan *plan =
                Plan(&scene, many, static_cast<int>(random.number(1, 3)), strategy);
            ASSERT_NE(plan, nullptr);
            EXPECT_GT(plan->schedule->period.times, 0);
            scene.compute_expected(plan->instance);
            ASSERT_EQ(polytile_plan_run(plan, device, scene.kernel,
                                        static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                        nullptr),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
            for (size_t a = 0; a < scene.memory.size(); a++) {
                EXPECT_EQ(scene.memory[a], scene.expected[a]) << of.arrays[a].name;
                EXPECT_TRUE(polytile_array_is_complete(scene.arrays[a]));
            }
            polytile_plan_summary summary;
            polytile_report report;
            polytile_plan_get_summary(plan, &summary);
            polytile_device_get_report(device, &report);
            EXPECT_EQ(report.n_kernels, summary.n_kernels);
            EXPECT_EQ(report.h2d_bytes, summary.h2d_bytes);
            EXPECT_EQ(report.d2h_bytes, summary.d2h_bytes);
            EXPECT_EQ(report.peak_device_bytes, summary.peak_device_bytes);
            EXPECT_GE(report.run_s, report.compute_s + report.transfer_s);
            polytile_plan_destroy(plan);
        }
    }
}

/** A drawn line counts operations of one stretch after the other, none of which is kept. */
TEST_F(RunPeriod, IsShownOnATerminal) {
    Random random(test_seed("RunPeriod.IsShownOnATerminal"));
    const Captured captured(true, 100);
    const Terminal terminal("xterm");
    polytile_device *device = Open("host(memory=4KiB,threads=1)");
    Scene scene(ctx, all_cases()[0], cases[0].n, &random);
    polytile_plan *plan = Plan(&scene, cases[0], 2, "min-kernels");
    ASSERT_NE(plan, nullptr);
    EXPECT_GT(plan->schedule->period.times, 0);
    scene.compute_expected(plan->instance);
    EXPECT_EQ(polytile_plan_run(plan, device, scene.kernel, static_cast<int>(scene.arrays.size()),
                                scene.arrays.data(), nullptr),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    for (size_t a = 0; a < scene.memory.size(); a++)
        EXPECT_EQ(scene.memory[a], scene.expected[a]);
    polytile_plan_destroy(plan);
}

/** The last stretch may be a few superblocks that need less than the others. */
TEST_F(RunPeriod, ThePeakIsThatOfAllStretches) {
    polytile_device *device = Open("host(memory=4KiB,threads=1)");
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(
        polytile_kernel_create(ctx, "blur[i]: in x[i-1:i+1]; out y[i]", &blur_kernel, &kernel),
        POLYTILE_OK)
        << polytile_last_error(ctx);
    for (int64_t n_blocks = 2049; n_blocks < 2061; n_blocks++) {
        const int64_t n = 64 * n_blocks - 60, block[POLYTILE_MAX_DIMS] = {64};
        std::vector<float> x(static_cast<size_t>(n), 1.0F), y(static_cast<size_t>(n));
        polytile_array *arrays[2];
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, x.data(), &arrays[0]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &n, y.data(), &arrays[1]),
                  POLYTILE_OK);
        polytile_launch_options options = {};
        options.plan.block = block;
        options.plan.limit_bytes = 3 * (66 + 64) * 4 + 40;
        options.plan.n_buffers = 3;
        options.plan.strategy = "min-kernels";
        const polytile_domain inside = {1, {{1, n - 2, 1}}};
        polytile_plan *plan = nullptr;
        ASSERT_EQ(polytile_plan_create(kernel, &inside, 2, arrays, &options, &plan), POLYTILE_OK)
            << polytile_last_error(ctx);
        ASSERT_EQ(polytile_plan_run(plan, device, kernel, 2, arrays, nullptr), POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_plan_summary summary;
        polytile_report report;
        polytile_plan_get_summary(plan, &summary);
        polytile_device_get_report(device, &report);
        EXPECT_GT(plan->schedule->period.times, 0);
        EXPECT_EQ(report.peak_device_bytes, summary.peak_device_bytes) << n_blocks;
        polytile_plan_destroy(plan);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
    }
}

} // namespace
