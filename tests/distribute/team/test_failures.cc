#include "queue/queue_test.h"

#include <polytile/kernel.h>

/* What becomes of exchanges between devices of which one has failed. */

namespace {

POLYTILE_KERNEL(blur, (i), (const float, t, 1), (float, u, 1)) {
    PT_AT(u, i) = PT_AT(t, i - 1) + PT_AT(t, i + 1);
}

class TeamFailures : public QueueTest, public testing::WithParamInterface<const char *> {};

INSTANTIATE_TEST_SUITE_P(Layouts, TeamFailures,
                         testing::Values("block", "cyclic(3)", "weighted(1,3)"));

/** Elements of an internal array have no memory between devices before they are to move. */
TEST_P(TeamFailures, WhatCouldNotBeComputedDoesNotMove) {
    Gate failing;
    std::vector<float> x(64);
    polytile_share_options share = {};
    polytile_queue *queue = nullptr;
    share.layout = GetParam();
    share.launches_per_exchange = 1;
    ASSERT_EQ(
        polytile_queue_create_shared(ctx, "host(memory=6KiB),host(memory=6KiB)", &share, &queue),
        POLYTILE_OK)
        << error();
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

} // namespace
