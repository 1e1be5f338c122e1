#include "queue/queue_test.h"
#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

#include <polytile/kernel.h>

#include <atomic>
#include <thread>

extern "C" {
#include "distribute/group/run.h"
}

/* Supersteps that are handed out while the one before them runs, on devices with room for all. */

namespace {

std::atomic<int64_t> n_left_to_fail{0};

POLYTILE_KERNEL(ahead_step, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i + 1, j) +
                     (uint32_t)(17 * i + j);
}

/** Runs the body's threads, but fails when it was called so often. */
int step_or_fail(const polytile_sub_kernel *launch) {
    const polytile_view *a = &launch->views[0], *b = &launch->views[1];
    const polytile_range *rows = &launch->threads->range[0], *columns = &launch->threads->range[1];
    const auto at = [](const polytile_view *of, int64_t i, int64_t j) {
        return reinterpret_cast<uint32_t *>(static_cast<char *>(of->origin) +
                                            i * of->stride_bytes[0] + j * of->stride_bytes[1]);
    };
    if (--n_left_to_fail == 0)
        return 9;
    for (int64_t i = rows->lo; i <= rows->hi; i++)
        for (int64_t j = columns->lo; j <= columns->hi; j++)
            *at(b, i, j) = 3u * *at(a, i, j) + 5u * *at(a, i - 1, j) + 7u * *at(a, i + 1, j) +
                           static_cast<uint32_t>(17 * i + j);
    return 0;
}

class GroupGates : public QueueTest {
  protected:
    void SetUp() override {
        environment.set("POLYTILE_CHECK", "plan");
        QueueTest::SetUp();
    }

    static std::string devices(int64_t n) {
        std::string text = "host(memory=4MiB)";
        for (int64_t d = 1; d < n; d++)
            text += ",host(memory=4MiB)";
        return text;
    }

    /** Two fields on a queue. */
    void begin(const std::string &text, int64_t n_rows, polytile_queue **queue) {
        const int64_t extents[] = {n_rows, 24};
        Random random(1);
        for (std::vector<uint32_t> &field : fields) {
            field.resize(static_cast<size_t>(n_rows * 24));
            for (uint32_t &element : field)
                element = static_cast<uint32_t>(random.number(0, 1 << 30));
        }
        ASSERT_EQ(polytile_queue_create(ctx, text.c_str(), queue), POLYTILE_OK) << error();
        for (size_t f = 0; f < 2; f++)
            ASSERT_EQ(polytile_array_wrap(ctx, f == 0 ? "A" : "B", POLYTILE_U32, 2, extents,
                                          fields[f].data(), &arrays[f]),
                      POLYTILE_OK);
        ASSERT_EQ(polytile_queue_attach(*queue, 2, arrays), POLYTILE_OK) << error();
    }
    void step(polytile_queue *queue, polytile_kernel *kernel, int64_t n_rows, int64_t k) {
        polytile_array *const turn[] = {arrays[k % 2], arrays[1 - k % 2]};
        const polytile_domain threads = box({1, 0}, {n_rows - 2, 23});
        ASSERT_EQ(polytile_queue_launch(queue, kernel, &threads, 2, turn, nullptr), POLYTILE_OK)
            << error();
    }
    polytile_kernel *stepping() {
        return create("step[i, j]: in A[i-1:i+1, j]; out B[i, j]", &ahead_step_kernel);
    }
    polytile_kernel *failing() {
        polytile_implementation of = {};
        of.host_launcher = step_or_fail;
        return create("step[i, j]: in A[i-1:i+1, j]; out B[i, j]", &of);
    }
    /** What so many steps leave in both fields, run one by one. */
    void find_wanted(int64_t n_rows, int64_t n_steps, std::vector<uint32_t> wanted[2]) {
        polytile_queue *queue = nullptr;
        polytile_kernel *kernel = stepping();
        begin("host", n_rows, &queue);
        for (int64_t k = 0; k < n_steps; k++)
            step(queue, kernel, n_rows, k);
        ASSERT_EQ(polytile_queue_detach(queue, 2, arrays), POLYTILE_OK) << error();
        for (int f = 0; f < 2; f++)
            wanted[f] = fields[f];
    }
    static int64_t n_gates(polytile_queue *queue) {
        return pti_group_of(queue)->member[0]->gates.n_set;
    }
    static int64_t n_closed(polytile_queue *queue) {
        const pti_gates *gates = &pti_group_of(queue)->member[0]->gates;
        return gates->n_set - gates->n_open;
    }

    Environment environment;
    std::vector<uint32_t> fields[2];
    polytile_array *arrays[2] = {};
};

TEST_F(GroupGates, SuperstepsThatRunAgainAreHandedOutAhead) {
    const int64_t n_rows = 1200, n_steps = 200;
    std::vector<uint32_t> wanted[2];
    polytile_queue *queue = nullptr;
    find_wanted(n_rows, n_steps, wanted);
    begin(devices(3), n_rows, &queue);
    polytile_kernel *kernel = stepping();
    for (int64_t k = 0; k < n_steps; k++)
        step(queue, kernel, n_rows, k);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_GT(n_gates(queue), 4);
    EXPECT_EQ(n_closed(queue), 0);
    EXPECT_EQ(polytile_queue_detach(queue, 2, arrays), POLYTILE_OK) << error();
    for (int f = 0; f < 2; f++)
        EXPECT_TRUE(fields[f] == wanted[f]) << "field " << f << " differs";
}

TEST_F(GroupGates, ResultsAreThoseOfRunningInOrder) {
    Random random(test_seed("GroupGates.ResultsAreThoseOfRunningInOrder"));
    for (int64_t round = 0; round < scaled(12) && !HasFailure(); round++) {
        const int64_t n_rows = random.number(60, 1500), n_steps = random.number(1, 300);
        const int64_t waits_percent = random.one_of({0, 0, 2, 10});
        const std::string text = devices(random.number(2, 4));
        std::vector<uint32_t> wanted[2];
        polytile_queue *queue = nullptr;
        find_wanted(n_rows, n_steps, wanted);
        begin(text, n_rows, &queue);
        polytile_kernel *kernel = stepping();
        for (int64_t k = 0; k < n_steps; k++) {
            step(queue, kernel, n_rows, k);
            if (!random.chance(static_cast<int>(waits_percent)))
                continue;
            ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        }
        ASSERT_EQ(polytile_queue_detach(queue, 2, arrays), POLYTILE_OK) << error();
        for (int f = 0; f < 2; f++)
            EXPECT_TRUE(fields[f] == wanted[f]) << "field " << f << " differs: " << text << ", "
                                                << n_rows << " rows, " << n_steps << " steps";
    }
}

/** Whoever fails, in whichever superstep: the error is reported, all gates are open, and the queue
 * runs what comes then. */
TEST_F(GroupGates, AFailureIsReportedAndNothingIsHeldBehindIt) {
    const int64_t n_rows = 600, n_steps = 120;
    Random random(test_seed("GroupGates.AFailureIsReportedAndNothingIsHeldBehindIt"));
    polytile_queue *queue = nullptr;
    begin(devices(3), n_rows, &queue);
    polytile_kernel *kernel = failing();
    for (int64_t round = 0; round < scaled(30) && !HasFailure(); round++) {
        n_left_to_fail = random.number(1, 3 * n_steps);
        for (int64_t k = 0; k < n_steps; k++)
            step(queue, kernel, n_rows, k);
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
        EXPECT_FALSE(polytile_array_is_complete(arrays[0]) &&
                     polytile_array_is_complete(arrays[1]));
        EXPECT_EQ(n_closed(queue), 0);
    }
    n_left_to_fail = 0;
    step(queue, kernel, n_rows, 0);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    polytile_queue_detach(queue, 2, arrays);
}

/** What lay on the devices before, and is no matter of the launches that fail, comes home. */
TEST_F(GroupGates, AFailureLosesNothingOfOtherArrays) {
    const int64_t n_rows = 600, n_steps = 120;
    Random random(test_seed("GroupGates.AFailureLosesNothingOfOtherArrays"));
    polytile_queue *queue = nullptr;
    begin(devices(3), n_rows, &queue);
    std::vector<float> other(1000, 3);
    polytile_array *apart = wrap("apart", other);
    ASSERT_EQ(attach(queue, {apart}), POLYTILE_OK) << error();
    polytile_kernel *kernel = failing(), *scaling = scale();
    ASSERT_EQ(launch(queue, scaling, line(1000), {apart}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    n_left_to_fail = random.number(2 * n_steps, 3 * n_steps);
    for (int64_t k = 0; k < n_steps; k++)
        step(queue, kernel, n_rows, k);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    EXPECT_TRUE(polytile_array_is_complete(apart));
    EXPECT_EQ(detach(queue, {apart}), POLYTILE_OK) << error();
    EXPECT_TRUE(other == std::vector<float>(1000, 6));
    polytile_queue_detach(queue, 2, arrays);
}

/** Whenever it is: the queue is done then, or says so. */
TEST_F(GroupGates, WhatIsCancelledEnds) {
    const int64_t n_rows = 1200, n_steps = 300;
    Random random(test_seed("GroupGates.WhatIsCancelledEnds"));
    polytile_queue *queue = nullptr;
    begin(devices(3), n_rows, &queue);
    polytile_kernel *kernel = stepping();
    for (int64_t round = 0; round < scaled(20) && !HasFailure(); round++) {
        for (int64_t k = 0; k < n_steps; k++)
            step(queue, kernel, n_rows, k);
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(random.number(0, 20000)));
            polytile_queue_cancel(queue);
        });
        const polytile_status status = polytile_queue_wait(queue);
        other.join();
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_CANCELLED) << error();
        EXPECT_EQ(n_closed(queue), 0);
    }
    polytile_queue_detach(queue, 2, arrays);
}

} // namespace
