#include "queue/queue_test.h"

#include <chrono>
#include <thread>

extern "C" {
#include "queue/member.h"
}

namespace {

/* What is queued behind a gate runs when that is opened. */

class QueueGate : public QueueTest, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        queue = open(GetParam());
        x = wrap("x", memory);
        ASSERT_EQ(attach(queue, {x}), POLYTILE_OK);
    }
    void TearDown() override {
        detach(queue, {x});
        QueueTest::TearDown();
    }
    void run_and_close() {
        ASSERT_EQ(launch(queue, gated(body), line(10), {x}), POLYTILE_OK) << error();
        pti_queue_set_gate(queue);
    }

    polytile_queue *queue = nullptr;
    polytile_array *x = nullptr;
    std::vector<float> memory = std::vector<float>(10, 1);
    Gate body;
};

INSTANTIATE_TEST_SUITE_P(Devices, QueueGate, testing::Values("host", "host(memory=1MiB)"));

TEST_P(QueueGate, HoldsWhatIsQueuedBehindIt) {
    run_and_close();
    ASSERT_EQ(launch(queue, gated(body), line(10), {x}), POLYTILE_OK) << error();
    pti_queue_wait_at_gate(queue);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(body.n_launches(), 1);
    pti_queue_open_gate(queue);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(body.n_launches(), 2);
}

TEST_P(QueueGate, SeveralAreOpenedInTheirOrder) {
    for (int k = 0; k < PTI_MOST_GATES; k++)
        run_and_close();
    for (int k = 1; k <= PTI_MOST_GATES; k++) {
        pti_queue_wait_at_gate(queue);
        EXPECT_EQ(body.n_launches(), k);
        pti_queue_open_gate(queue);
    }
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
}

TEST_P(QueueGate, IsStoodAtUntilSomethingIsQueuedBehindIt) {
    EXPECT_FALSE(pti_queue_stands_at_gate(queue));
    run_and_close();
    EXPECT_TRUE(pti_queue_stands_at_gate(queue));
    ASSERT_EQ(launch(queue, gated(body), line(10), {x}), POLYTILE_OK) << error();
    EXPECT_FALSE(pti_queue_stands_at_gate(queue));
    pti_queue_open_gate(queue);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_FALSE(pti_queue_stands_at_gate(queue));
}

TEST_P(QueueGate, BehindAFailureWhatItHoldsIsPassed) {
    body.let_return(7);
    run_and_close();
    ASSERT_EQ(launch(queue, gated(body), line(10), {x}), POLYTILE_OK) << error();
    pti_queue_wait_at_gate(queue);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    EXPECT_EQ(body.n_launches(), 1);
    pti_queue_open_gate(queue);
}

/** The group fails a member whose peer failed; what is held may be planned by then. */
TEST_P(QueueGate, AQueueThatIsFailedMeanwhileRunsNothing) {
    run_and_close();
    ASSERT_EQ(launch(queue, gated(body), line(10), {x}), POLYTILE_OK) << error();
    pti_queue_wait_at_gate(queue);
    pti_queue_keep_error(queue, pti_fail(ctx, POLYTILE_DEVICE, "a peer failed"));
    pti_queue_open_gate(queue);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"a peer failed"});
    EXPECT_EQ(body.n_launches(), 1);
}

} // namespace
