extern "C" {
#include "graph/schedule/order.h"
}

#include <gtest/gtest.h>

#include <vector>

/* What tasks of a stream wait for. */

namespace {

/** a makes x for b, which makes y for c; each takes 10 ticks. */
class FiringOrder : public testing::Test {
  protected:
    void SetUp() override {
        tasks.n_tasks = 3;
        tasks.task = task;
        tasks.n_buffers = 2;
        tasks.buffer = buffer;
        tasks.n_readers = 2;
        tasks.reader = reader;
        tasks.n_resources = 3;
        schedule.period = 10;
        schedule.start = start;
        schedule.capacity = capacity;
    }
    void TearDown() override { pti_firing_order_free(&order); }

    void find() { ASSERT_TRUE(pti_firing_order_find(&tasks, &schedule, place, &order)); }

    /** How many frames after another task one has to be; -1: it does not wait. */
    int64_t tokens(int of, int on) const {
        for (int w = order.first[of]; w < order.first[of + 1]; w++)
            if (order.wait[w].on == on)
                return order.wait[w].tokens;
        return -1;
    }

    pti_task task[3] = {{0, 10, 0}, {1, 10, 0}, {2, 10, 0}};
    pti_frame_buffer buffer[2] = {{0, 0, 1, 8, 0}, {1, 1, 1, 8, 0}};
    pti_buffer_reader reader[2] = {{1, 0}, {2, 0}};
    int64_t start[3] = {0, 10, 20}, capacity[2] = {2, 2};
    pti_firing_place place[2] = {{0, 0}, {0, 1}};
    pti_stream_tasks tasks = {};
    pti_periodic schedule = {};
    pti_firing_order order = {};
};

TEST_F(FiringOrder, ReadersWaitForWhatIsMadeAndMakersForRoom) {
    find();
    EXPECT_EQ(tokens(1, 0), 0);
    EXPECT_EQ(tokens(0, 1), 2);
    EXPECT_EQ(tokens(1, 2), 2);
    EXPECT_EQ(tokens(0, 2), -1);
    EXPECT_EQ(pti_firing_order_find_fault(&tasks, &order), nullptr);
}

TEST_F(FiringOrder, ReadersOfOlderFramesWaitForThese) {
    reader[0].delay = 1;
    capacity[0] = 3;
    find();
    EXPECT_EQ(tokens(1, 0), 1);
    EXPECT_EQ(tokens(0, 1), 2);
}

TEST_F(FiringOrder, BuffersThatShareMemoryTakeTurns) {
    schedule.period = 30;
    capacity[0] = capacity[1] = 1;
    buffer[1] = {2, 1, 0, 8, 0};
    place[1] = place[0];
    find();
    EXPECT_EQ(tokens(2, 1), 0) << "after what reads the other one";
    EXPECT_EQ(tokens(0, 2), 1) << "after the frame before";
    EXPECT_EQ(pti_firing_order_find_fault(&tasks, &order), nullptr);
}

TEST_F(FiringOrder, FindsSchedulesThatDoNotKeepToIt) {
    capacity[0] = 1;
    find();
    EXPECT_STREQ(pti_firing_order_find_fault(&tasks, &order),
                 "a task starts before what it waits for has ended");
    pti_firing_order_free(&order);
    capacity[0] = 2;
    reader[0].delay = 3;
    find();
    EXPECT_STREQ(pti_firing_order_find_fault(&tasks, &order), "a frame waits for a later one");
}

TEST_F(FiringOrder, FramesComeInThePlansOrder) {
    find();
    EXPECT_TRUE(pti_firing_comes_before(&order, 0, 4, 1, 4));
    EXPECT_TRUE(pti_firing_comes_before(&order, 0, 5, 2, 4));
    EXPECT_FALSE(pti_firing_comes_before(&order, 0, 6, 1, 4));
    EXPECT_TRUE(pti_firing_comes_before(&order, 0, 5, 1, 4)) << "the task's number decides";
    EXPECT_FALSE(pti_firing_comes_before(&order, 1, 4, 0, 5));
}

/* 2^20 frames of 2^47 ticks are more than 64 bits hold. */
TEST_F(FiringOrder, DeepBuffersOfLongPeriodsAreKeptTo) {
    const int64_t long_ticks = INT64_C(1) << 47;
    for (int t = 0; t < 3; t++) {
        task[t].ticks = long_ticks;
        start[t] = t * long_ticks;
    }
    schedule.period = long_ticks;
    for (const int64_t depth : {INT64_C(1) << 16, INT64_C(1) << 17, INT64_C(1) << 20}) {
        capacity[0] = capacity[1] = depth;
        find();
        EXPECT_EQ(pti_firing_order_find_fault(&tasks, &order), nullptr) << depth;
        EXPECT_FALSE(pti_firing_comes_before(&order, 0, depth, 1, 0)) << depth;
        EXPECT_TRUE(pti_firing_comes_before(&order, 1, 0, 0, depth)) << depth;
        pti_firing_order_free(&order);
    }
}

} // namespace
