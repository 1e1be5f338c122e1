#include "queue/queue_test.h"
#include "support/chain_launch.h"
#include "support/environment.h"

#include <algorithm>
#include <array>

/* What a queue moves does not depend on the order of the last calls, and what nobody needs any more
 * does not move. */

namespace {

int do_nothing(const polytile_sub_kernel *) {
    return 0;
}

int fail(const polytile_sub_kernel *) {
    return 7;
}

using Bytes = std::pair<int64_t, int64_t>; /* up, down */

class QueueDead : public QueueTest {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        nothing.host_launcher = do_nothing;
    }

    polytile_array *field(const char *name, int64_t n) {
        memory.push_back(std::vector<float>(static_cast<size_t>(n * n)));
        return wrap(name, memory.back(), {n, n});
    }

    Bytes moved(polytile_queue *queue) {
        polytile_report told;
        polytile_queue_get_report(queue, false, &told);
        return {told.h2d_bytes, told.d2h_bytes};
    }

    polytile_implementation nothing = {};
    std::vector<std::vector<float>> memory;
};

/** The product of two matrices, and then a bias. */
class QueueProduct : public QueueDead {
  protected:
    static constexpr int64_t n = 96;
    static constexpr const char *device = "host(memory=40KiB)";

    void SetUp() override {
        QueueDead::SetUp();
        arrays = {field("A", n), field("B", n), field("C", n), field("D", n)};
        kernels = {create("product[i, j]: in A[i, :], B[:, j]; out C[i, j]", &nothing),
                   create("bias[i, j]: in D[i, j]; inout C[i, j]", &nothing)};
    }

    /** A paused queue with two launches. */
    polytile_queue *enqueue() {
        polytile_queue *queue = open(device);
        EXPECT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
        polytile_queue_pause(queue);
        EXPECT_EQ(launch(queue, kernels[0], all, {arrays[0], arrays[1], arrays[2]}), POLYTILE_OK);
        EXPECT_EQ(launch(queue, kernels[1], all, {arrays[3], arrays[2]}), POLYTILE_OK);
        return queue;
    }

    /** Bytes of a queue that ends by this. */
    template <typename End> Bytes ended(End end) {
        polytile_queue *queue = enqueue();
        end(queue);
        const Bytes bytes = moved(queue);
        polytile_queue_destroy(queue);
        return bytes;
    }

    Bytes planned() {
        polytile_plan *plan = nullptr;
        polytile_plan_summary summary;
        polytile_launch_options options = {};
        options.plan.limit_bytes = 40 << 10;
        polytile_array *first[] = {arrays[0], arrays[1], arrays[2]};
        polytile_array *second[] = {arrays[3], arrays[2]};
        const polytile_chain_launch launches[] = {chain_launch(kernels[0], all, first),
                                                  chain_launch(kernels[1], all, second)};
        EXPECT_EQ(polytile_plan_create_chain(2, launches, 0, nullptr, &options.plan, &plan),
                  POLYTILE_OK)
            << error();
        polytile_plan_get_summary(plan, &summary);
        return {summary.h2d_bytes, summary.d2h_bytes};
    }

    const polytile_domain all = box({0, 0}, {n - 1, n - 1});
    Arrays arrays;
    std::array<polytile_kernel *, 2> kernels = {};
};

TEST_F(QueueProduct, AListIsDetachedAsOneWhateverItsOrder) {
    const Bytes expected = planned();
    Arrays order = arrays;
    std::sort(order.begin(), order.end());
    do
        EXPECT_EQ(ended([&](polytile_queue *queue) {
                      EXPECT_EQ(detach(queue, order), POLYTILE_OK) << error();
                  }),
                  expected);
    while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(QueueProduct, DetachingOneByOneMovesNoMore) {
    const Bytes expected = planned();
    Arrays order = arrays;
    std::sort(order.begin(), order.end());
    do
        EXPECT_EQ(ended([&](polytile_queue *queue) {
                      for (polytile_array *array : order)
                          EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
                  }),
                  expected);
    while (std::next_permutation(order.begin(), order.end()));
}

/** Steps to and fro between a field and a scratch field of the queue's own. */
class QueueSteps : public QueueDead {
  protected:
    static constexpr int64_t n = 64;

    void SetUp() override {
        QueueDead::SetUp();
        A = field("A", n);
        step = create("step[i, j]: in A[i-1:i+1, j]; out B[i, j]", &nothing);
    }

    polytile_queue *begin(const char *device) {
        polytile_queue *queue = open(device);
        EXPECT_EQ(attach(queue, {A}), POLYTILE_OK) << error();
        B = make_internal(queue, "B", {n, n});
        polytile_queue_pause(queue);
        return queue;
    }

    void enqueue(polytile_queue *queue, int n_steps) {
        for (int k = 0; k < n_steps; k += 2) {
            ASSERT_EQ(launch(queue, step, all, {A, B}), POLYTILE_OK) << error();
            ASSERT_EQ(launch(queue, step, all, {B, A}), POLYTILE_OK) << error();
        }
    }

    /** What a plan of so many steps moves, B being scratch. */
    Bytes planned(int n_steps) {
        polytile_plan *plan = nullptr;
        polytile_plan_summary summary;
        polytile_launch_options options = {};
        options.plan.limit_bytes = 8 << 10;
        polytile_array *described = nullptr;
        const polytile_domain &domain = *polytile_array_get_domain(A);
        EXPECT_EQ(polytile_array_describe(ctx, "B", POLYTILE_F32, &domain, &described),
                  POLYTILE_OK);
        polytile_array *there[] = {A, described}, *back[] = {described, A};
        std::vector<polytile_chain_launch> launches;
        for (int k = 0; k < n_steps; k++)
            launches.push_back(chain_launch(step, all, k % 2 == 0 ? there : back));
        EXPECT_EQ(polytile_plan_create_chain(n_steps, launches.data(), 1, &described, &options.plan,
                                             &plan),
                  POLYTILE_OK)
            << error();
        polytile_plan_get_summary(plan, &summary);
        return {summary.h2d_bytes, summary.d2h_bytes};
    }

    const polytile_domain all = box({0, 0}, {n - 1, n - 1});
    const int64_t field_bytes = n * n * 4;
    polytile_kernel *step = nullptr;
    polytile_array *A = nullptr, *B = nullptr;
};

TEST_F(QueueSteps, ScratchThatIsUsedOnGoesHomeWhenItIsWaitedFor) {
    polytile_queue *queue = begin("host(memory=8KiB)");
    enqueue(queue, 20);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(moved(queue).second, moved(queue).first + field_bytes);
}

TEST_F(QueueSteps, ScratchThatIsDestroyedFirstDoesNot) {
    const Bytes expected = planned(20);
    polytile_queue *queue = begin("host(memory=8KiB)");
    enqueue(queue, 20);
    polytile_array_destroy(B);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(moved(queue), expected);
    EXPECT_EQ(detach(queue, {A}), POLYTILE_OK) << error();
    EXPECT_EQ(moved(queue), expected);
}

TEST_F(QueueSteps, ScratchThatIsDiscardedDoesNotEither) {
    const Bytes expected = planned(20);
    polytile_queue *queue = begin("host(memory=8KiB)");
    for (int round = 1; round <= 3; round++) {
        enqueue(queue, 20);
        EXPECT_EQ(polytile_queue_discard(queue, 1, &B), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        EXPECT_EQ(moved(queue), Bytes(round * expected.first, round * expected.second));
        polytile_queue_pause(queue);
    }
}

TEST_F(QueueSteps, ScratchStaysAwayBetweenManyLaunchesToo) {
    const Bytes expected = planned(3000);
    EXPECT_EQ(expected.first, expected.second);
    polytile_queue *queue = begin("host(memory=8KiB)");
    enqueue(queue, 3000);
    polytile_array_destroy(B);
    EXPECT_EQ(detach(queue, {A}), POLYTILE_OK) << error();
    EXPECT_EQ(moved(queue), expected);
}

/** B is incomplete after a failure: the newest elements of it were left where they were, since what
 * failed would have overwritten them. */
TEST_F(QueueSteps, WhatWasLeftToBeOverwrittenIsLostWhereThatFails) {
    polytile_implementation failing = {};
    failing.host_launcher = fail;
    polytile_kernel *broken = create("broken[i, j]: in A[i, j]; out B[i, j]", &failing);
    polytile_queue *queue = begin("host(memory=8KiB)");
    enqueue(queue, 1024);
    ASSERT_EQ(launch(queue, broken, all, {A, B}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, step, all, {B, A}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"broken", "left incomplete: ", "B"});
    EXPECT_FALSE(polytile_array_is_complete(B));
}

TEST_F(QueueSteps, DestroyingScratchWaitsForNothing) {
    Gate gate(false);
    polytile_queue *queue = begin("host(memory=64KiB)");
    polytile_array *x = make_internal(queue, "x", {8});
    ASSERT_EQ(launch(queue, gated(gate), box({0}, {7}), {x}), POLYTILE_OK) << error();
    polytile_queue_resume(queue);
    gate.wait_for_a_launch();
    polytile_array_destroy(x);
    gate.open();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
}

TEST_F(QueueSteps, ADestroyedArrayIsNotFoundByItsName) {
    polytile_queue *queue = begin("host(memory=64KiB)");
    enqueue(queue, 2);
    polytile_array_destroy(B);
    EXPECT_EQ(polytile_queue_launch(queue, step, &all, POLYTILE_BY_NAME, nullptr),
              POLYTILE_INVALID);
    expect_says({"no array", "the name B"});
    B = make_internal(queue, "B", {n, n});
    EXPECT_EQ(polytile_queue_launch(queue, step, &all, POLYTILE_BY_NAME, nullptr), POLYTILE_OK)
        << error();
}

class QueueDiscard : public QueueTest, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        queue = open(GetParam());
        x = wrap("x", x_memory);
        y = wrap("y", y_memory);
        z = wrap("z", z_memory);
        ASSERT_EQ(attach(queue, {x, y, z}), POLYTILE_OK) << error();
    }

    polytile_queue *queue = nullptr;
    std::vector<float> x_memory = std::vector<float>(64, 1), y_memory = std::vector<float>(64, 2),
                       z_memory = std::vector<float>(64, 0);
    polytile_array *x = nullptr, *y = nullptr, *z = nullptr;
    const polytile_domain all = line(64);
};

TEST_P(QueueDiscard, AnArrayIsIncompleteUntilItIsOverwritten) {
    ASSERT_EQ(launch(queue, add(), all, {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_discard(queue, 1, &z), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_FALSE(polytile_array_is_complete(z));
    EXPECT_TRUE(polytile_array_is_complete(x));
    ASSERT_EQ(launch(queue, add(), all, {x, y, z}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {z}), POLYTILE_OK) << error();
    EXPECT_TRUE(polytile_array_is_complete(z));
    EXPECT_EQ(z_memory, std::vector<float>(64, 3));
}

TEST_P(QueueDiscard, WhatIsDiscardedIsNotMovedNorAreOthersHarmed) {
    ASSERT_EQ(launch(queue, add(), all, {x, y, z}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, scale(), all, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_discard(queue, POLYTILE_ARRAYS(z, y)), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {z, y, x}), POLYTILE_OK) << error();
    EXPECT_EQ(x_memory, std::vector<float>(64, 2));
    EXPECT_FALSE(polytile_array_is_complete(z));
    EXPECT_FALSE(polytile_array_is_complete(y));
    if (std::string(GetParam()) == "host(memory=64KiB)") {
        EXPECT_EQ(report(queue).d2h_bytes, 64 * 4);
    }
}

TEST_P(QueueDiscard, WhatIsOverwrittenBeforeItIsReadIsNotWarnedAbout) {
    testing::internal::CaptureStderr();
    for (int round = 0; round < 2; round++) {
        ASSERT_EQ(launch(queue, add(), all, {x, y, z}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, add(), all, {z, y, x}), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_discard(queue, 1, &z), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    }
    EXPECT_EQ(detach(queue, {z}), POLYTILE_OK) << error();
    EXPECT_EQ(attach(queue, {z}), POLYTILE_OK) << error();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(QueueDiscard, AReadOfWhatIsDiscardedIsWarnedAboutOnce) {
    EXPECT_EQ(polytile_queue_discard(queue, 1, &z), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    testing::internal::CaptureStderr();
    ASSERT_EQ(launch(queue, add(), all, {z, y, x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "polytile: add: reads array z, which was discarded and not overwritten whole "
              "since\n");
}

TEST_P(QueueDiscard, AFailureOfOthersDoesNotHarmIt) {
    Gate failing;
    failing.let_return(1);
    EXPECT_EQ(polytile_queue_discard(queue, 1, &z), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, gated(failing), all, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"left incomplete: x"});
    EXPECT_EQ(error().find("left incomplete: x, z"), std::string::npos) << error();
}

TEST_P(QueueDiscard, OnlyWhatTheQueueHasIsDiscarded) {
    std::vector<float> memory(64);
    polytile_array *other = wrap("other", memory);
    EXPECT_EQ(polytile_queue_discard(queue, POLYTILE_ARRAYS(x, other)), POLYTILE_INVALID);
    expect_says({"other", "not of this queue"});
    EXPECT_EQ(polytile_queue_discard(queue, POLYTILE_ARRAYS(x, x)), POLYTILE_INVALID);
    expect_says({"x", "twice"});
    EXPECT_EQ(polytile_queue_discard(queue, 0, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_discard(nullptr, 1, &x), POLYTILE_INVALID);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
    EXPECT_TRUE(polytile_array_is_complete(x));
}

std::string name_of(const testing::TestParamInfo<const char *> &device) {
    static const char *const names[] = {"InPlace", "Memory", "TwoInPlace", "TwoMemories"};
    return names[device.index];
}

INSTANTIATE_TEST_SUITE_P(Devices, QueueDiscard,
                         testing::Values("host", "host(memory=64KiB)", "host,host",
                                         "host(memory=16KiB),host(memory=16KiB)"),
                         name_of);

TEST(QueueLog, SaysWhyALaunchIsNotFused) {
    Environment level;
    level.set("POLYTILE_LOG", "info");
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *array = nullptr;
    polytile_implementation nothing = {};
    std::vector<float> memory(4096);
    const int64_t extent = 4096;
    nothing.host_launcher = do_nothing;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx, "scale[i]: inout x[i]", &nothing, &kernel), POLYTILE_OK);
    ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &extent, memory.data(), &array),
              POLYTILE_OK);
    ASSERT_EQ(polytile_queue_create(ctx, "host(memory=4KiB)", &queue), POLYTILE_OK);
    ASSERT_EQ(polytile_queue_attach(queue, 1, &array), POLYTILE_OK);
    const polytile_domain all = *polytile_array_get_domain(array);
    testing::internal::CaptureStderr();
    EXPECT_EQ(polytile_queue_launch(queue, kernel, &all, 1, &array, nullptr), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
    polytile_launch_options options = {};
    options.plan.launches_per_pass = 1;
    polytile_queue_pause(queue);
    for (int k = 0; k < 2; k++)
        EXPECT_EQ(polytile_queue_launch(queue, kernel, &all, 1, &array, &options), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("scale: not fused: no other launch is queued with it"), std::string::npos)
        << log;
    EXPECT_NE(log.find("scale: 2 launches are not fused: one launch a pass was asked for"),
              std::string::npos)
        << log;
    polytile_context_destroy(ctx);
}

} // namespace
