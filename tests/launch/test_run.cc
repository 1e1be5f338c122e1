#include "launch/scene.h"
#include "support/links.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <cmath>

extern "C" {
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

namespace {

class Run : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_device *open(const std::string &text) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_device_open(ctx, text.c_str(), &device), POLYTILE_OK)
            << polytile_last_error(ctx);
        return device;
    }

    polytile_context *ctx = nullptr;
};

void expect_report_of_plan(const polytile_report &report, const polytile_plan_summary &summary) {
    EXPECT_EQ(report.n_kernels, summary.n_kernels);
    EXPECT_EQ(report.h2d_bytes, summary.h2d_bytes);
    EXPECT_EQ(report.d2h_bytes, summary.d2h_bytes);
    EXPECT_EQ(report.peak_device_bytes, summary.peak_device_bytes);
    EXPECT_EQ(report.lower_bound_bytes, summary.lower_bound_bytes);
    EXPECT_GE(report.run_s, report.compute_s + report.transfer_s);
}

/** Plan and run a scene; false when nothing fits the limit. */
bool runs_right(polytile_context *ctx, polytile_device *device, Scene &scene,
                const polytile_launch_options &options) {
    polytile_plan *plan = nullptr;
    const polytile_status status =
        polytile_plan_create(scene.kernel, &scene.domain, static_cast<int>(scene.arrays.size()),
                             scene.arrays.data(), &options, &plan);
    if (status == POLYTILE_NO_FIT)
        return false;
    EXPECT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
    if (plan == nullptr)
        return false;
    scene.compute_expected(plan->instance);
    pti_text why = {};
    EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << why.data;
    pti_text_free(&why);
    EXPECT_EQ(polytile_plan_run(plan, device, scene.kernel, static_cast<int>(scene.arrays.size()),
                                scene.arrays.data(), NULL),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    for (size_t a = 0; a < scene.memory.size(); a++) {
        EXPECT_EQ(scene.memory[a], scene.expected[a]) << scene.of_.arrays[a].name;
        EXPECT_TRUE(polytile_array_is_complete(scene.arrays[a]));
    }
    polytile_plan_summary summary;
    polytile_report report;
    polytile_plan_get_summary(plan, &summary);
    polytile_device_get_report(device, &report);
    expect_report_of_plan(report, summary);
    polytile_plan_destroy(plan);
    return true;
}

TEST_F(Run, InPlaceEqualsAPlainLoop) {
    Random random(test_seed("Run.InPlaceEqualsAPlainLoop"));
    for (const char *text : {"host(threads=1)", "host(threads=2)", "host(threads=5)"}) {
        for (const Case &of : all_cases()) {
            Scene scene(ctx, of, of.largest_n, &random);
            EXPECT_TRUE(runs_right(ctx, open(text), scene, scene.options)) << of.declaration;
        }
    }
}

TEST_F(Run, EqualsAPlainLoopUnderAnyLimit) {
    Random random(test_seed("Run.EqualsAPlainLoopUnderAnyLimit"));
    const char *strategies[] = {nullptr, "min-time", "min-traffic", "min-kernels"};
    int64_t n_run = 0;
    const int64_t n_rounds = scaled(2500);
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        polytile_context *own = nullptr;
        ASSERT_EQ(polytile_context_create(&own), POLYTILE_OK);
        const Case &of = all_cases()[static_cast<size_t>(round) % all_cases().size()];
        Scene scene(own, of, random.number(3, of.largest_n), &random);
        int64_t n_bytes = 0;
        for (const auto &bytes : scene.memory)
            n_bytes += static_cast<int64_t>(bytes.size());
        polytile_launch_options options = scene.options;
        options.plan.limit_bytes = 64 + random.number(0, 2 * n_bytes >> random.number(0, 6));
        options.plan.strategy = strategies[random.number(0, 3)];
        options.plan.n_buffers = static_cast<int>(random.number(0, 3));
        int64_t block[POLYTILE_MAX_DIMS];
        for (int64_t &threads : block)
            threads = random.number(1, 9);
        options.plan.block = random.chance(70) ? block : nullptr;
        const polytile_link link = slow_link(&random);
        options.plan.link = random.chance(50) ? &link : nullptr;
        const std::string text = "host(memory=" + std::to_string(options.plan.limit_bytes) +
                                 "B,threads=" + std::to_string(random.one_of({1, 1, 1, 2, 3})) +
                                 ")";
        polytile_device *device = nullptr;
        ASSERT_EQ(polytile_device_open(own, text.c_str(), &device), POLYTILE_OK);
        n_run += runs_right(own, device, scene, options);
        if (testing::Test::HasFailure())
            ADD_FAILURE() << of.declaration << " on " << text << " round " << round << " strategy "
                          << (options.plan.strategy ? options.plan.strategy : "default")
                          << " buffers " << options.plan.n_buffers;
        polytile_context_destroy(own);
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.6));
}

TEST_F(Run, PlansWithTheSmallerOfTheLimits) {
    Random random(1);
    const struct {
        const char *device;
        int64_t asked_bytes;
        int64_t limit_bytes;
    } rows[] = {
        {"host", 0, 0},
        {"host", 8192, 8192},
        {"host(memory=4KiB)", 0, 4096},
        {"host(memory=4KiB)", 8192, 4096},
        {"host(memory=4KiB)", 2048, 2048},
    };
    for (const auto &row : rows) {
        polytile_device *device = open(row.device);
        Scene scene(ctx, all_cases()[0], 3000, &random);
        polytile_launch_options options = {};
        options.plan.limit_bytes = row.asked_bytes;
        options.plan.n_buffers = 1;
        options.plan.strategy = "min-kernels";
        ASSERT_EQ(polytile_run(device, scene.kernel, &scene.domain,
                               static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                               &options),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_report report;
        polytile_device_get_report(device, &report);
        EXPECT_LE(report.peak_device_bytes, row.limit_bytes);
        EXPECT_GE(report.peak_device_bytes, row.limit_bytes / 2);
        EXPECT_GT(report.plan_s, 0);
    }
}

TEST_F(Run, InPlaceMovesNothing) {
    Random random(1);
    polytile_device *device = open("host");
    Scene scene(ctx, all_cases()[0], 100, &random);
    ASSERT_EQ(polytile_run(device, scene.kernel, &scene.domain,
                           static_cast<int>(scene.arrays.size()), scene.arrays.data(), nullptr),
              POLYTILE_OK);
    polytile_report report;
    polytile_device_get_report(device, &report);
    EXPECT_EQ(report.n_kernels, 1);
    EXPECT_EQ(report.h2d_bytes + report.d2h_bytes + report.peak_device_bytes, 0);
}

TEST_F(Run, APlanRunsOverOtherArraysOfItsShape) {
    Random random(1);
    polytile_device *device = open("host(memory=4KiB)");
    Scene planned(ctx, all_cases()[0], 3000, &random), other(ctx, all_cases()[0], 3000, &random);
    polytile_launch_options options = {};
    options.plan.limit_bytes = 4096;
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create(planned.kernel, &planned.domain,
                                   static_cast<int>(planned.arrays.size()), planned.arrays.data(),
                                   &options, &plan),
              POLYTILE_OK);
    other.compute_expected(plan->instance);
    for (int k = 0; k < 3; k++)
        EXPECT_EQ(polytile_plan_run(plan, device, other.kernel,
                                    static_cast<int>(other.arrays.size()), other.arrays.data(),
                                    NULL),
                  POLYTILE_OK);
    EXPECT_EQ(other.memory, other.expected);
    EXPECT_EQ(planned.memory, planned.before);
}

} // namespace
