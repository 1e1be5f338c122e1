#include "queue/two_arrays.h"

namespace {

/** What waits for what, and which errors are told when. */
class QueueWaiting : public QueueOfTwoArrays {};

INSTANTIATE_TEST_SUITE_P(Devices, QueueWaiting,
                         testing::Values("host", "host(memory=768B)", "host(memory=64KiB)"));

TEST_P(QueueWaiting, LaunchesReturnBeforeTheyRun) {
    Gate gate(false);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    gate.wait_for_a_launch();
    EXPECT_EQ(double_all(x), POLYTILE_OK) << error();
    gate.open();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, 4));
}

TEST_P(QueueWaiting, APauseKeepsLaunchesBackUntilTheyAreResumed) {
    Gate gate;
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(gate.n_launches(), 0);
    polytile_queue_resume(queue);
    gate.wait_for_a_launch();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(report(queue).n_launches, 1);
}

TEST_P(QueueWaiting, WaitingOverridesAPause) {
    Gate gate;
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_GE(gate.n_launches(), 1);
    EXPECT_EQ(report(queue).n_launches, 1);
}

TEST_P(QueueWaiting, WaitingForAnArrayPutsOffOthers) {
    Gate gate;
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, gated(gate), all, {y}), POLYTILE_OK) << error();
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait_for(queue, x), POLYTILE_OK) << error();
    EXPECT_EQ(gate.n_launches(), 0);
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, 2));
    EXPECT_EQ(gate.n_launches(), 0);
    EXPECT_EQ(detach(queue, {y}), POLYTILE_OK) << error();
    EXPECT_EQ(y_memory, std::vector<float>(64, 2));
}

TEST_P(QueueWaiting, NothingIsQuick) {
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait_for(queue, x), POLYTILE_OK) << error();
    EXPECT_EQ(report(queue).n_launches, 0);
    EXPECT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    EXPECT_EQ(report(queue).h2d_bytes, 0);
    EXPECT_EQ(report(queue).d2h_bytes, 0);
}

TEST_P(QueueWaiting, AFailureIsToldOnceAndWhatWasBehindItDidNotRun) {
    Gate gate;
    gate.let_return(3);
    polytile_kernel *failing = gated(gate);
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, failing, all, {x}), POLYTILE_OK) << error();
    for (int k = 0; k < 5; k++)
        ASSERT_EQ(launch(queue, failing, all, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"gated: the launcher returned 3", "left incomplete", "x"});
    EXPECT_EQ(gate.n_launches(), 1);
    EXPECT_EQ(report(queue).n_launches, 1);
    EXPECT_FALSE(polytile_array_is_complete(x));
    EXPECT_TRUE(polytile_array_is_complete(y));
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
    EXPECT_EQ(error(), "");
}

TEST_P(QueueWaiting, AfterAFailureTheQueueIsUsedOn) {
    Gate gate;
    gate.let_return(3);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait_for(queue, x), POLYTILE_DEVICE);
    gate.let_return(0);
    ASSERT_EQ(double_all(y), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    EXPECT_EQ(y_memory, std::vector<float>(64, 2));
    EXPECT_TRUE(polytile_array_is_complete(y));
}

TEST_P(QueueWaiting, DetachTellsFailuresAndDetaches) {
    Gate gate;
    gate.let_return(3);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x, y}), POLYTILE_DEVICE);
    expect_says({"gated: the launcher returned 3"});
    EXPECT_EQ(attach(queue, {y}), POLYTILE_OK) << error();
    EXPECT_EQ(double_all(y), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {y}), POLYTILE_OK) << error();
    EXPECT_EQ(y_memory, std::vector<float>(64, 2));
}

TEST_P(QueueWaiting, ReportsBeginAnew) {
    for (int k = 0; k < 4; k++)
        ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    const polytile_report first = report(queue, true);
    EXPECT_EQ(first.n_launches, 4);
    EXPECT_GE(first.n_kernels, 4);
    EXPECT_GT(first.enqueue_s, 0);
    EXPECT_GT(first.run_s, 0);
    const polytile_report second = report(queue);
    EXPECT_EQ(second.n_launches, 0);
    EXPECT_EQ(second.enqueue_s, 0);
    EXPECT_EQ(second.run_s, 0);
}

TEST_P(QueueWaiting, ReportsLeaveErrorsToWait) {
    Gate gate;
    gate.let_return(3);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(report(queue).n_launches, 0);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
}

TEST_P(QueueWaiting, ArraysAreFoundByTheirNames) {
    std::vector<float> z_memory(64);
    polytile_array *z = wrap("z", z_memory);
    ASSERT_EQ(attach(queue, {z}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_launch(queue, add(), &all, 0, nullptr, nullptr), POLYTILE_OK)
        << error();
    EXPECT_EQ(detach(queue, {z}), POLYTILE_OK) << error();
    EXPECT_EQ(z_memory, std::vector<float>(64, 2));
}

} // namespace
