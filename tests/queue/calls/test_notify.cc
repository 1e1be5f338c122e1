#include "queue/two_arrays.h"

#include <atomic>
#include <thread>

namespace {

/** What a function is called with, and what it saw. */
struct Seen {
    const float *memory = nullptr;
    std::atomic<int> n_calls{0};
    polytile_status status = POLYTILE_INTERNAL;
    float first = 0;
    std::thread::id thread;
    polytile_queue *queue = nullptr;
    polytile_array *array = nullptr;
    polytile_status inside = POLYTILE_OK;
};

void see(polytile_status status, void *user) {
    Seen &seen = *static_cast<Seen *>(user);
    seen.status = status;
    seen.first = seen.memory[0];
    seen.thread = std::this_thread::get_id();
    seen.n_calls++;
}

/** A function that calls what it must not. */
void misuse(polytile_status status, void *user) {
    Seen &seen = *static_cast<Seen *>(user);
    seen.inside = polytile_queue_wait(seen.queue);
    if (polytile_queue_detach(seen.queue, 1, &seen.array) != POLYTILE_INVALID)
        seen.inside = POLYTILE_INTERNAL;
    if (polytile_queue_notify(seen.queue, seen.array, see, user) != POLYTILE_INVALID)
        seen.inside = POLYTILE_INTERNAL;
    polytile_queue_destroy(seen.queue);
    see(status, user);
}

void cancel(polytile_status status, void *user) {
    polytile_queue_cancel(static_cast<Seen *>(user)->queue);
    see(status, user);
}

class QueueNotify : public QueueOfTwoArrays {
  protected:
    void SetUp() override {
        QueueOfTwoArrays::SetUp();
        seen.memory = x_memory.data();
        seen.queue = queue;
        seen.array = x;
    }

    Seen seen;
};

INSTANTIATE_TEST_SUITE_P(Devices, QueueNotify,
                         testing::Values("host", "host(memory=768B)", "host(memory=64KiB)",
                                         "host,host",
                                         "host(memory=768B),host(memory=64KiB,threads=1)"));

TEST_P(QueueNotify, TheFunctionSeesWhatTheLaunchesSoFarLeft) {
    Seen later;
    later.memory = x_memory.data();
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_notify(queue, x, see, &seen), POLYTILE_OK) << error();
    for (int k = 0; k < 5; k++)
        ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_notify(queue, x, see, &later), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(seen.n_calls, 1);
    EXPECT_EQ(seen.status, POLYTILE_OK);
    EXPECT_EQ(seen.first, 4);
    EXPECT_EQ(later.n_calls, 1);
    EXPECT_EQ(later.first, 128);
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, 128));
}

TEST_P(QueueNotify, TheFunctionIsCalledBeforeTheArrayIsDone) {
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_notify(queue, x, see, &seen), POLYTILE_OK) << error();
    while (!polytile_queue_test(queue, x))
        std::this_thread::yield();
    EXPECT_EQ(seen.n_calls, 1);
}

TEST_P(QueueNotify, AnArrayThatNothingUsesIsDone) {
    ASSERT_EQ(polytile_queue_notify(queue, x, see, &seen), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(seen.n_calls, 1);
    EXPECT_EQ(seen.first, 1);
}

TEST_P(QueueNotify, TheEndOfTheQueueCallsToo) {
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_notify(queue, x, see, &seen), POLYTILE_OK) << error();
    polytile_queue_destroy(queue);
    EXPECT_EQ(seen.n_calls, 1);
    EXPECT_EQ(seen.first, 2);
}

TEST_P(QueueNotify, BehindAFailureTheFunctionHearsOfIt) {
    Gate gate;
    gate.let_return(3);
    ASSERT_EQ(launch(queue, gated(gate), all, {x}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_notify(queue, x, see, &seen), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"the launcher returned 3"});
    EXPECT_EQ(seen.n_calls, 1);
    EXPECT_EQ(seen.status, POLYTILE_DEVICE);
}

TEST_P(QueueNotify, MisuseIsRefused) {
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_notify(queue, x, misuse, &seen), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(seen.inside, POLYTILE_INVALID);
    EXPECT_EQ(seen.n_calls, 1);
    polytile_array *internal = make_internal(queue, "t", {64});
    EXPECT_EQ(polytile_queue_notify(queue, internal, see, &seen), POLYTILE_INVALID);
    expect_says({"t, which is internal"});
    EXPECT_EQ(polytile_queue_notify(queue, x, nullptr, &seen), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_notify(queue, nullptr, see, &seen), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_notify(nullptr, x, see, &seen), POLYTILE_INVALID);
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_notify(queue, x, see, &seen), POLYTILE_INVALID);
    expect_says({"attach it first"});
    EXPECT_EQ(x_memory, std::vector<float>(64, 2));
}

/** A loop that ends when it has converged: the function asks for it. */
TEST_P(QueueNotify, AFunctionMayCancelWhatIsBehindIt) {
    polytile_queue_pause(queue);
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_notify(queue, x, cancel, &seen), POLYTILE_OK) << error();
    ASSERT_EQ(double_all(x), POLYTILE_OK) << error();
    polytile_queue_resume(queue);
    const polytile_status status = polytile_queue_wait(queue);
    const bool is_team = std::string(GetParam()).find("),") != std::string::npos ||
                         std::string(GetParam()) == "host,host";
    EXPECT_EQ(status, is_team ? POLYTILE_OK : POLYTILE_CANCELLED) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, is_team ? 4.0F : 2.0F));
}

} // namespace
