#include "queue/queue_test.h"

#include <polytile/kernel.h>

extern "C" {
#include "distribute/group/run.h"
}

/* What becomes of exchanges between devices of which one has failed. */

namespace {

POLYTILE_KERNEL(blur, (i), (const float, t, 1), (float, u, 1)) {
    PT_AT(u, i) = PT_AT(t, i - 1) + PT_AT(t, i + 1);
}

class GroupFailures : public QueueTest, public testing::WithParamInterface<const char *> {
  protected:
    polytile_queue *open_shared(const char *devices, const char *layout) {
        polytile_share_options share = {};
        polytile_queue *queue = nullptr;
        share.layout = layout;
        share.launches_per_exchange = 1;
        EXPECT_EQ(polytile_queue_create_shared(ctx, devices, &share, &queue), POLYTILE_OK)
            << error();
        return queue;
    }
};

INSTANTIATE_TEST_SUITE_P(Layouts, GroupFailures,
                         testing::Values("block", "cyclic(3)", "weighted(1,3)", "pool"));

/** Elements of an internal array have no memory between devices before they are to move. */
TEST_P(GroupFailures, WhatCouldNotBeComputedDoesNotMove) {
    Gate failing;
    std::vector<float> x(64);
    polytile_queue *queue = open_shared("host(memory=6KiB),host(memory=6KiB)", GetParam());
    polytile_array *X = wrap("x", x), *t = make_internal(queue, "t", {64});
    polytile_kernel *fill = create("fill[i]: inout t[i]", &failing.implementation);
    polytile_kernel *smooth = create("blur[i]: in t[i-1:i+1]; out u[i]", &blur_kernel);
    ASSERT_EQ(attach(queue, {X}), POLYTILE_OK) << error();
    failing.let_return(1);
    ASSERT_EQ(launch(queue, fill, line(64), {t}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, smooth, *POLYTILE_INTERIOR(1, 64), {t, X}), POLYTILE_OK) << error();
    EXPECT_NE(detach(queue, {X}), POLYTILE_OK);
    expect_says({"fill"});
    EXPECT_FALSE(polytile_array_is_complete(X));
}

TEST_P(GroupFailures, AReadOfWhatTheyHarmedIsWarnedAboutOnceALaunch) {
    Gate failing;
    std::vector<float> x(64), y(64), z(64);
    polytile_queue *queue = open_shared("host,host", GetParam());
    polytile_array *X = wrap("x", x), *Y = wrap("y", y), *Z = wrap("z", z);
    ASSERT_EQ(attach(queue, {X, Y, Z}), POLYTILE_OK) << error();
    failing.let_return(1);
    ASSERT_EQ(launch(queue, gated(failing), line(64), {X}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    testing::internal::CaptureStderr();
    ASSERT_EQ(launch(queue, add(), line(64), {X, Y, Z}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "polytile: add: reads array x, which a failed run left incomplete\n");
}

class GroupErrors : public QueueTest {};

/** As if launches of each had failed: their queues tell it when it is asked for. */
TEST_F(GroupErrors, OfMembersThatFailTheFirstTellsWhy) {
    std::vector<float> x(64), y(64);
    polytile_queue *queue = nullptr;
    ASSERT_EQ(polytile_queue_create_shared(ctx, "host,host", nullptr, &queue), POLYTILE_OK);
    polytile_array *X = wrap("x", x), *Y = wrap("y", y);
    polytile_kernel *smooth = create("blur[i]: in t[i-1:i+1]; out u[i]", &blur_kernel);
    ASSERT_EQ(attach(queue, {X, Y}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(queue, smooth, *POLYTILE_INTERIOR(1, 64), {X, Y}), POLYTILE_OK) << error();
    ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    pti_group *group = pti_group_of(queue);
    pti_queue_keep_error(group->member[0], pti_fail(ctx, POLYTILE_IO, "the first"));
    pti_queue_keep_error(group->member[1], pti_fail(ctx, POLYTILE_DEVICE, "the second"));
    EXPECT_EQ(pti_group_finish_leaving(group, Y), POLYTILE_IO);
    EXPECT_EQ(error(), "the first");
    EXPECT_EQ(detach(queue, {X, Y}), POLYTILE_OK) << error();
}

} // namespace
