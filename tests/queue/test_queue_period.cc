#include "queue/queue_period.h"

#include <memory>

namespace {

using namespace queue_period;

TEST_F(QueuePeriod, ResultsAreThoseOfPlainLoops) {
    static const char *const text = "host(memory=4KiB,threads=1)";
    polytile_device *device = nullptr;
    polytile_queue *queue = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, text, &device), POLYTILE_OK);
    std::vector<polytile_chain_launch> launches(N_STEPS);
    polytile_array *to_and_fro[2][2] = {{array[0], array[1]}, {array[1], array[0]}};
    for (int step = 0; step < N_STEPS; step++) {
        polytile_chain_launch *launch = &launches[static_cast<size_t>(step)];
        launch->kernel = kernel;
        launch->domain = domain;
        launch->n_arrays = 2;
        launch->arrays = to_and_fro[step % 2];
    }
    polytile_plan_options options = {};
    options.limit_bytes = 4096;
    options.link = polytile_device_get_link(device);
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create_chain(N_STEPS, launches.data(), 0, nullptr, &options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_plan_summary summary;
    polytile_plan_get_summary(plan, &summary);
    EXPECT_GT(plan->schedule->period.times, 0) << summary.n_kernels;
    pti_text why = {};
    EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << (why.data ? why.data : "");
    pti_text_free(&why);
    ASSERT_EQ(polytile_queue_create(ctx, text, &queue), POLYTILE_OK);
    auto count = std::make_unique<StretchCount>(queue);
    ASSERT_EQ(RunOn(queue), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_report report;
    polytile_queue_get_report(queue, false, &report);
    EXPECT_GE(report.n_kernels, summary.n_kernels);
    EXPECT_GT(StretchCount::n_later, 1) << "none of the chains had a period";
    count.reset();
    ExpectPlainResults();
    int64_t n_threads = 0;
    for (int64_t k = 0; k < summary.n_kernels; k++) {
        polytile_domain threads;
        ASSERT_EQ(polytile_plan_get_superblock(plan, k, &threads), POLYTILE_OK);
        n_threads += threads.range[0].hi - threads.range[0].lo + 1;
    }
    EXPECT_EQ(n_threads, static_cast<int64_t>(N_STEPS) * (N - 2));
    polytile_plan_destroy(plan);
    polytile_queue_destroy(queue);
    polytile_device_close(device);
}

} // namespace
