#include "queue/two_arrays.h"
#include "support/random.h"
#include "support/scale.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <random>
#include <thread>

namespace {

/** Calls that do not wait: whether something is done, how far the queue is, and cancelling. */
class QueuePoll : public QueueOfTwoArrays {
  protected:
    void poll_until_done(const polytile_array *array) const {
        while (!polytile_queue_test(queue, array))
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
};

INSTANTIATE_TEST_SUITE_P(Devices, QueuePoll,
                         testing::Values("host", "host(memory=768B)", "host(memory=64KiB)"));

TEST_P(QueuePoll, NothingQueuedIsDone) {
    EXPECT_TRUE(polytile_queue_test(queue, nullptr));
    EXPECT_TRUE(polytile_queue_test(queue, x));
    EXPECT_TRUE(polytile_queue_test(nullptr, nullptr));
    EXPECT_EQ(polytile_queue_get_progress(queue).fraction, 1);
    EXPECT_EQ(polytile_queue_get_progress(nullptr).left_s, 0);
}

TEST_P(QueuePoll, WhatRunsIsNotDoneAndWhatOthersUseIs) {
    Gate gate(false);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    gate.wait_for_a_launch();
    EXPECT_FALSE(polytile_queue_test(queue, nullptr));
    EXPECT_FALSE(polytile_queue_test(queue, x));
    EXPECT_TRUE(polytile_queue_test(queue, y));
    EXPECT_LT(polytile_queue_get_progress(queue).fraction, 1);
    gate.open();
    poll_until_done(x);
    poll_until_done(nullptr);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
}

TEST_P(QueuePoll, AFailureIsDoneAndToldByTheNextWait) {
    Gate gate;
    gate.let_return(3);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    poll_until_done(nullptr);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    EXPECT_EQ(polytile_array_get_state(x), POLYTILE_ARRAY_INCOMPLETE);
    EXPECT_EQ(polytile_array_get_state(y), POLYTILE_ARRAY_COMPLETE);
}

TEST_P(QueuePoll, ProgressGrowsToItsEnd) {
    Gate gate(false);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    gate.wait_for_a_launch();
    ASSERT_EQ(double_all(y), POLYTILE_OK) << error();
    const polytile_progress before = polytile_queue_get_progress(queue);
    EXPECT_LE(before.fraction, 0.5);
    EXPECT_GE(before.left_s, 0);
    gate.open();
    double fraction = before.fraction;
    while (fraction < 1) {
        const polytile_progress now = polytile_queue_get_progress(queue);
        EXPECT_GE(now.fraction, fraction);
        EXPECT_GE(now.left_s, 0);
        fraction = now.fraction;
    }
    EXPECT_EQ(polytile_queue_get_progress(queue).left_s, 0);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
}

TEST_P(QueuePoll, CancellingAnIdleQueueDoesNothing) {
    polytile_queue_cancel(nullptr);
    polytile_queue_cancel(queue);
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    polytile_queue_cancel(queue);
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, 4));
}

/** The launch at the gate was begun and ends; what is after it does not run. */
TEST_P(QueuePoll, CancellingTellsArraysApart) {
    Gate gate(false);
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    ASSERT_EQ(double_all(y), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    std::vector<float> z_memory(64, 1);
    polytile_array *z = wrap("z", z_memory);
    ASSERT_EQ(attach(queue, {z}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, gated(gate), all, {z}), POLYTILE_OK) << error();
    gate.wait_for_a_launch();
    ASSERT_EQ(double_all(y), POLYTILE_OK) << error();
    polytile_queue_cancel(queue);
    gate.open();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_CANCELLED);
    expect_says({"cancelled"});
    EXPECT_EQ(polytile_array_get_state(x), POLYTILE_ARRAY_COMPLETE);
    EXPECT_EQ(polytile_array_get_state(y), POLYTILE_ARRAY_UNTOUCHED);
    EXPECT_TRUE(polytile_array_is_complete(y));
    ASSERT_EQ(double_all(y), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_array_get_state(y), POLYTILE_ARRAY_COMPLETE);
    EXPECT_EQ(x_memory, std::vector<float>(64, 2));
    EXPECT_EQ(y_memory, std::vector<float>(64, 4));
    if (polytile_array_get_state(z) == POLYTILE_ARRAY_COMPLETE) {
        EXPECT_EQ(detach(queue, {z}), POLYTILE_OK) << error();
        EXPECT_EQ(z_memory, std::vector<float>(64, 2));
    }
}

TEST_P(QueuePoll, WhatIsPausedIsCancelledWithoutBeingResumed) {
    polytile_queue_pause(queue);
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    EXPECT_FALSE(polytile_queue_test(queue, x));
    polytile_queue_cancel(queue);
    poll_until_done(nullptr);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_CANCELLED);
    EXPECT_EQ(polytile_array_get_state(x), POLYTILE_ARRAY_UNTOUCHED);
    polytile_queue_resume(queue);
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, 2));
}

polytile_queue *of_signal = nullptr;

void cancel_in_handler(int) {
    polytile_queue_cancel(of_signal);
}

TEST_P(QueuePoll, AHandlerOfASignalMayCancel) {
    Gate gate(false);
    of_signal = queue;
    const auto before = std::signal(SIGUSR1, cancel_in_handler);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    gate.wait_for_a_launch();
    ASSERT_EQ(double_all(y), POLYTILE_OK) << error();
    std::raise(SIGUSR1);
    gate.open();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_CANCELLED);
    EXPECT_EQ(polytile_array_get_state(y), POLYTILE_ARRAY_UNTOUCHED);
    std::signal(SIGUSR1, before);
}

/** A launcher that cancels the run of which it is a sub-kernel. */
struct Canceller {
    polytile_device *device;
    int n_left; /* sub-kernels before that */
};

int cancel_device(const polytile_sub_kernel *launch) {
    Canceller &of = *static_cast<Canceller *>(launch->user);
    if (of.n_left-- == 0)
        polytile_device_cancel(of.device);
    return 0;
}

TEST_F(QueueTest, ARunOnADeviceIsCancelled) {
    std::vector<float> memory(256, 1);
    Canceller canceller = {nullptr, 0};
    ASSERT_EQ(polytile_device_open(ctx, "host(memory=128B)", &canceller.device), POLYTILE_OK)
        << error();
    polytile_implementation implementation = {};
    implementation.host_launcher = cancel_device;
    implementation.user = &canceller;
    polytile_array *x = wrap("x", memory);
    polytile_kernel *some = create("some[i]: inout x[i]", &implementation);
    const polytile_domain all = line(256);
    polytile_device_cancel(nullptr);
    polytile_device_cancel(canceller.device);
    EXPECT_EQ(polytile_run(canceller.device, some, &all, 1, &x, nullptr), POLYTILE_CANCELLED);
    expect_says({"some: cancelled on host(memory=128B), after 1 sub-kernels of the "});
    EXPECT_EQ(polytile_array_get_state(x), POLYTILE_ARRAY_UNTOUCHED);
    canceller.n_left = 3;
    EXPECT_EQ(polytile_run(canceller.device, some, &all, 1, &x, nullptr), POLYTILE_CANCELLED);
    expect_says({"after 4 sub-kernels", "x"});
    EXPECT_EQ(polytile_array_get_state(x), POLYTILE_ARRAY_INCOMPLETE);
    polytile_kernel *overwriting = create("some[i]: out x[i]", &implementation);
    EXPECT_EQ(polytile_run(canceller.device, overwriting, &all, 1, &x, nullptr), POLYTILE_OK)
        << error();
    EXPECT_EQ(polytile_array_get_state(x), POLYTILE_ARRAY_COMPLETE);
}

/** Programs of doublings and sums, cancelled at some time, against a plain interpreter. */
class RandomCancel : public QueueTest {
  protected:
    enum { N_ARRAYS = 4 };

    void run_and_cancel(std::mt19937 &random) {
        static const char *const devices[] = {"host",
                                              "host(threads=1)",
                                              "host(memory=1KiB)",
                                              "host(memory=64KiB)",
                                              "host,host",
                                              "host(memory=2KiB),host(memory=2KiB)"};
        static const int64_t lengths[] = {1, 2, 31, 64, 127};
        const char *device = devices[random() % std::size(devices)];
        n = lengths[random() % std::size(lengths)];
        SCOPED_TRACE(std::string(device) + " n=" + std::to_string(n));
        queue = open(device);
        for (int a = 0; a < N_ARRAYS; a++) {
            memory[a].assign(static_cast<size_t>(n), static_cast<float>(a + 1));
            history[a] = {static_cast<float>(a + 1)};
            arrays[a] = wrap("a", memory[a]);
        }
        ASSERT_EQ(attach(queue, Arrays(arrays, arrays + N_ARRAYS)), POLYTILE_OK) << error();
        const int delay_us = static_cast<int>(random() % 300);
        std::thread canceller([this, delay_us] {
            std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
            polytile_queue_get_progress(queue);
            polytile_queue_cancel(queue);
        });
        for (int k = static_cast<int>(random() % 12); k >= 0; k--)
            launch_some(random);
        const polytile_status status = polytile_queue_wait(queue);
        canceller.join();
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_CANCELLED) << error();
        check(status);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        polytile_queue_destroy(queue);
    }

    void launch_some(std::mt19937 &random) {
        const size_t to = random() % N_ARRAYS, by = random() % (N_ARRAYS - 1);
        const size_t one = (to + 1 + by) % N_ARRAYS,
                     other = (to + 1 + (by + 1) % (N_ARRAYS - 1)) % N_ARRAYS;
        if (random() % 2 == 0) {
            ASSERT_EQ(launch(queue, doubling, line(n), {arrays[to]}), POLYTILE_OK) << error();
            history[to].push_back(2 * history[to].back());
        } else {
            ASSERT_EQ(launch(queue, adding, line(n), {arrays[one], arrays[other], arrays[to]}),
                      POLYTILE_OK)
                << error();
            history[to].push_back(history[one].back() + history[other].back());
        }
    }

    /** Every element is what some launch left, that of the last one if the array is complete; and
     * the queue goes on from what is there. */
    void check(polytile_status status) {
        polytile_array_state state[N_ARRAYS];
        for (int a = 0; a < N_ARRAYS; a++)
            state[a] = polytile_array_get_state(arrays[a]);
        EXPECT_EQ(launch(queue, doubling, line(n), {arrays[0]}), POLYTILE_OK) << error();
        EXPECT_EQ(detach(queue, Arrays(arrays, arrays + N_ARRAYS)), POLYTILE_OK) << error();
        for (int a = 0; a < N_ARRAYS; a++) {
            const float factor = a == 0 ? 2.0F : 1.0F;
            const std::vector<float> &of = memory[a];
            if (state[a] == POLYTILE_ARRAY_INCOMPLETE) {
                EXPECT_EQ(status, POLYTILE_CANCELLED);
                continue;
            }
            EXPECT_EQ(of, std::vector<float>(of.size(), of[0])) << a;
            if (state[a] == POLYTILE_ARRAY_COMPLETE) {
                EXPECT_EQ(of[0], factor * history[a].back()) << a;
            }
            size_t k = 0;
            while (k < history[a].size() && of[0] != factor * history[a][k])
                k++;
            EXPECT_LT(k, history[a].size()) << a << " is " << of[0];
        }
    }

    int64_t n = 0;
    polytile_queue *queue = nullptr;
    polytile_kernel *doubling = nullptr, *adding = nullptr;
    polytile_array *arrays[N_ARRAYS] = {};
    std::vector<float> memory[N_ARRAYS], history[N_ARRAYS];
};

TEST_F(RandomCancel, ArraysAreWhatTheirStateSays) {
    std::mt19937 random(
        static_cast<uint32_t>(test_seed("RandomCancel.ArraysAreWhatTheirStateSays")));
    doubling = scale();
    adding = add();
    for (int64_t k = scaled(300); k > 0 && !HasFailure(); k--)
        run_and_cancel(random);
}

} // namespace
