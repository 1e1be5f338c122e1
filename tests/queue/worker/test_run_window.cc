#include "queue/queue_test.h"

#include <algorithm>

namespace {

/** What the queue's thread does about failures, on host memory and on a device's. */
class RunWindow : public QueueTest, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        queue = open(GetParam());
        x = wrap("x", x_memory);
        y = wrap("y", y_memory);
        z = wrap("z", z_memory);
        ASSERT_EQ(attach(queue, {x, y, z}), POLYTILE_OK) << error();
    }

    std::vector<float> x_memory = std::vector<float>(100, 1);
    std::vector<float> y_memory = std::vector<float>(100, 2);
    std::vector<float> z_memory = std::vector<float>(100, 0);
    polytile_queue *queue = nullptr;
    polytile_array *x = nullptr, *y = nullptr, *z = nullptr;
};

TEST_P(RunWindow, AFailureIsToldWithItsLaunchAndWhatItLost) {
    Gate gate;
    gate.let_return(3);
    polytile_queue_pause(queue);
    EXPECT_EQ(launch(queue, gated(gate), line(100), {z}), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, scale(), line(100), {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"gated", "returned 3", "left incomplete: z"});
    EXPECT_FALSE(polytile_array_is_complete(z));
    EXPECT_TRUE(polytile_array_is_complete(y));
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(100, 1)) << "the launch after it was run";
    EXPECT_EQ(y_memory, std::vector<float>(100, 2));
}

TEST_P(RunWindow, AnArrayThatIsWrittenWholeIsCompleteAgain) {
    Gate gate;
    gate.let_return(3);
    EXPECT_EQ(launch(queue, gated(gate), line(100), {z}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    EXPECT_EQ(launch(queue, add(), line(60), {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_FALSE(polytile_array_is_complete(z)) << "a part of it was written";
    EXPECT_EQ(launch(queue, add(), line(100), {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x, y, z}), POLYTILE_OK) << error();
    EXPECT_TRUE(polytile_array_is_complete(z));
    EXPECT_EQ(z_memory, std::vector<float>(100, 3));
}

TEST_P(RunWindow, LaunchesThatReadWhatAFailureLostAreWarnedAbout) {
    Gate gate;
    gate.let_return(3);
    EXPECT_EQ(launch(queue, gated(gate), line(100), {z}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    for (int k = 0; k < 2; k++) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(launch(queue, add(), line(100), {x, z, y}), POLYTILE_OK) << error();
        const std::string told = testing::internal::GetCapturedStderr();
        EXPECT_NE(told.find("reads array z, which a failed run left incomplete"), std::string::npos)
            << k << ": " << told;
    }
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    testing::internal::CaptureStderr();
    polytile_queue_pause(queue);
    EXPECT_EQ(launch(queue, add(), line(100), {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, add(), line(100), {x, z, y}), POLYTILE_OK) << error();
    polytile_queue_resume(queue);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, add(), line(100), {x, z, y}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "it was written whole before";
}

TEST_P(RunWindow, CountsWhatIsDone) {
    for (int k = 0; k < 5; k++)
        EXPECT_EQ(launch(queue, add(), line(100), {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    const polytile_report told = report(queue);
    EXPECT_EQ(told.n_launches, 5);
    EXPECT_GE(told.n_kernels, 5);
    EXPECT_GT(told.run_s, 0);
    EXPECT_EQ(report(queue, true).n_launches, 5);
    EXPECT_EQ(report(queue).n_launches, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, RunWindow, testing::Values("host", "host(memory=4KiB)"));

TEST_F(QueueTest, AFailureLosesWhatItsLaunchWritesOnly) {
    std::vector<float> x(100, 1), y(100, 2), z(100, 0);
    Gate gate;
    polytile_queue *queue = open("host(memory=64KiB)");
    polytile_array *a = wrap("x", x), *b = wrap("y", y), *c = wrap("z", z);
    ASSERT_EQ(attach(queue, {a, b, c}), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, add(), line(100), {a, b, c}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    gate.let_return(1);
    EXPECT_EQ(launch(queue, gated(gate), line(100), {a}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"left incomplete: x"});
    EXPECT_FALSE(polytile_array_is_complete(a));
    EXPECT_TRUE(polytile_array_is_complete(c)) << "its sums were on the device, and are saved";
    EXPECT_TRUE(polytile_array_is_complete(b));
    EXPECT_EQ(launch(queue, add(), line(100), {b, b, c}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {a, b, c}), POLYTILE_OK) << error();
    EXPECT_TRUE(polytile_array_is_complete(c));
    EXPECT_EQ(z, std::vector<float>(100, 4));
}

/** z makes room for y without a download, as the last launch writes it again. */
TEST_F(QueueTest, WhatWasDiscardedIsLostWithAFailure) {
    std::vector<float> x(8000, 1), y(8000, 2), z(8000, 0);
    Gate gate;
    polytile_queue *queue = open("host(memory=64KiB)");
    polytile_array *a = wrap("x", x), *b = wrap("y", y), *c = wrap("z", z);
    ASSERT_EQ(attach(queue, {a, b, c}), POLYTILE_OK) << error();
    for (const bool fails : {false, true}) {
        gate.let_return(fails);
        polytile_queue_pause(queue);
        EXPECT_EQ(launch(queue, add(), line(8000), {a, a, c}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, gated(gate), line(8000), {b}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, add(), line(8000), {a, a, c}), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), fails ? POLYTILE_DEVICE : POLYTILE_OK) << error();
        EXPECT_EQ(polytile_array_is_complete(c), !fails);
        EXPECT_EQ(polytile_array_is_complete(b), !fails);
        EXPECT_TRUE(polytile_array_is_complete(a));
        EXPECT_LE(report(queue).d2h_bytes, 8000 * 4) << "more than y went to the host";
    }
    EXPECT_EQ(launch(queue, add(), line(8000), {a, a, c}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {a, b, c}), POLYTILE_OK) << error();
    EXPECT_TRUE(polytile_array_is_complete(c));
    EXPECT_EQ(z, std::vector<float>(8000, 2));
}

/** Results of launches that were waited for, which only the device had. */
TEST_P(RunWindow, AFailureLeavesFinishedResultsOfOtherArrays) {
    Gate gate, failing;
    failing.let_return(3);
    polytile_array *inner = make_internal(queue, "inner", {100});
    for (int round = 1; round <= 2; round++) {
        EXPECT_EQ(launch(queue, gated(gate), line(100), {x}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, gated(gate), line(50), {inner}), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, gated(failing), line(100), {y}), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
        EXPECT_EQ(error().substr(error().find("left incomplete")), "left incomplete: y");
        EXPECT_TRUE(polytile_array_is_complete(x));
        EXPECT_TRUE(polytile_array_is_complete(inner));
    }
    EXPECT_EQ(launch(queue, add(), line(100), {x, inner, z}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x, z}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(100, 3));
    std::vector<float> sums(100, 3);
    std::fill(sums.begin(), sums.begin() + 50, 5.0F);
    EXPECT_EQ(z_memory, sums);
}

/** The failed run reads what is saved. */
TEST_P(RunWindow, AFailureLeavesResultsThatItsLaunchesRead) {
    Gate gate, failing;
    failing.let_return(3);
    EXPECT_EQ(launch(queue, gated(gate), line(100), {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    polytile_queue_pause(queue);
    EXPECT_EQ(launch(queue, add(), line(100), {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, gated(failing), line(100), {y}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_TRUE(polytile_array_is_complete(x));
    EXPECT_FALSE(polytile_array_is_complete(y));
    EXPECT_EQ(x_memory, std::vector<float>(100, 2));
}

/** Fails for threads from a number on. */
int fail_from(const polytile_sub_kernel *launch) {
    return launch->threads->range[0].hi < *static_cast<int64_t *>(launch->user) ? 0 : 3;
}

/** The failed run needs the memory in which x lies; or will need it, and has not come so far. */
TEST_F(QueueTest, AFailureLosesWhatMadeRoomForIt) {
    for (int64_t first : {0, 12000}) {
        std::vector<float> x(8000, 1), y(16000, 2), z(40, 1);
        Gate gate;
        polytile_implementation failing = {};
        failing.host_launcher = fail_from;
        failing.user = &first;
        polytile_queue *queue = open("host(memory=64KiB)");
        polytile_array *a = wrap("x", x), *b = wrap("y", y), *c = wrap("z", z);
        ASSERT_EQ(attach(queue, {a, b, c}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, gated(gate), line(40), {c}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, gated(gate), line(8000), {a}), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, create("late[i]: inout x[i]", &failing), line(16000), {b}),
                  POLYTILE_OK)
            << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
        expect_says({first == 0 ? "left incomplete: y" : "left incomplete: x, y"});
        EXPECT_EQ(polytile_array_is_complete(a), first == 0);
        EXPECT_FALSE(polytile_array_is_complete(b));
        EXPECT_EQ(detach(queue, {a, b, c}), POLYTILE_OK) << error();
        if (first == 0) {
            EXPECT_EQ(x, std::vector<float>(8000, 2));
        }
        EXPECT_EQ(z, std::vector<float>(40, polytile_array_is_complete(c) ? 2 : 1));
        polytile_queue_destroy(queue);
        for (polytile_array *array : {a, b, c})
            polytile_array_destroy(array);
    }
}

} // namespace
