#include <polytile/polytile.h>
#include <polytile/ranks.h>
#include <polytile/share.h>

#include "support/c_test.h"

/* What devices and ranks make of it is in test_queue.c and test_ranks.c. */

TEST_CASE(ApiShare, NullAndZerosAreTheDefaults) {
    polytile_queue *queue = NULL;
    CHECK_OK(polytile_queue_create_shared(ctx, "host,host", NULL, &queue));
    CHECK_OK(polytile_queue_create_shared(ctx, "host,host", &(polytile_share_options){0}, &queue));
}

TEST_CASE(ApiShare, ReservedMembersAreZeros) {
    polytile_queue *queue = NULL;
    CHECK_REFUSED(polytile_queue_create_shared(
                      ctx, "host,host", &(polytile_share_options){.reserved = {0, 1}}, &queue),
                  POLYTILE_INVALID, "reserved");
    CHECK(queue == NULL);
}

TEST_CASE(ApiShare, APoolIsOfDevicesAlone) {
    polytile_array *arrays[2] = {NULL};
    polytile_kernel *kernel = NULL;
    polytile_queue *queue = NULL;
    polytile_ranks_plan *plan = NULL;
    CHECK_OK(polytile_queue_create_shared(ctx, "host,host",
                                          &(polytile_share_options){.layout = "pool"}, &queue));
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(8), &arrays[0]));
    CHECK_OK(polytile_array_describe(ctx, "y", POLYTILE_F32, POLYTILE_EXTENTS(8), &arrays[1]));
    CHECK_OK(polytile_kernel_create(ctx, "k[i]: in x[i]; out y[i]", NULL, &kernel));
    const polytile_chain_launch launch = {kernel, *POLYTILE_EXTENTS(8), 2, arrays, 0, NULL};
    const polytile_ranks_request request = {
        .n_launches = 1, .launches = &launch, .n_ranks = 2, .share.layout = "pool"};
    CHECK_REFUSED(polytile_ranks_plan_create(&request, &plan), POLYTILE_INVALID, "pool");
}
