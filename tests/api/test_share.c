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
    const polytile_chain_launch launch = {kernel, *POLYTILE_EXTENTS(8), 2, arrays, 0, NULL, {0}};
    const polytile_ranks_request request = {
        .n_launches = 1, .launches = &launch, .n_ranks = 2, .share.layout = "pool"};
    CHECK_REFUSED(polytile_ranks_plan_create(&request, &plan), POLYTILE_INVALID, "pool");
}

TEST_CASE(ApiShare, APolicyOfRanksIsItsLayout) {
    static const struct {
        const char *policy;
        const char *says; /* NULL: it is planned */
    } cases[] = {
        {"equal", NULL},
        {"equal(node)", NULL},
        {"self(4)", NULL},
        {"weighted(3,1)", NULL},
        {"guided", "no rank's speed is known"},
        {"weighted", "no rank's speed is known"},
        {"fair", "give one of equal"},
        {"weighted(1,2,3)", "3 numbers, for 2 units"},
    };
    polytile_array *x = NULL;
    polytile_kernel *kernel = NULL;
    polytile_ranks_plan *plan = NULL;
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(8), &x));
    CHECK_OK(polytile_kernel_create(ctx, "k[i]: inout x[i]", NULL, &kernel));
    const polytile_chain_launch launch = {
        .kernel = kernel, .domain = *POLYTILE_EXTENTS(8), .n_arrays = 1, .arrays = &x};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const polytile_ranks_request request = {
            .n_launches = 1, .launches = &launch, .n_ranks = 2, .share.policy = cases[k].policy};
        if (cases[k].says == NULL)
            CHECK_OK(polytile_ranks_plan_create(&request, &plan));
        else
            CHECK_REFUSED(polytile_ranks_plan_create(&request, &plan), POLYTILE_INVALID,
                          cases[k].says);
    }
}

TEST_CASE(ApiShare, AnUnknownPolicyOfDevicesIsRefused) {
    polytile_queue *queue = NULL;
    CHECK_REFUSED(polytile_queue_create_shared(ctx, "host,host",
                                               &(polytile_share_options){.policy = "fair"}, &queue),
                  POLYTILE_INVALID, "policy \"fair\": give one of equal");
    CHECK(queue == NULL);
    CHECK_OK(polytile_queue_create_shared(
        ctx, "host+host", &(polytile_share_options){.policy = "self(2,1)"}, &queue));
}

static const struct {
    const char *device;
    polytile_share_options options;
    polytile_status status;
    const char *says;
} wrong_shares[] = {
    {"host,host", {.grid = "3"}, POLYTILE_INVALID, "3"},
    {"host,host", {.grid = "2by1"}, POLYTILE_INVALID, "2by1"},
    {"host,host", {.layout = "spiral"}, POLYTILE_INVALID, "spiral"},
    {"host,host", {.layout = "cyclic(0)"}, POLYTILE_INVALID, "cyclic(0)"},
    {"host,host", {.layout = "weighted(1,2,3)"}, POLYTILE_INVALID, "3"},
    {"host,host", {.layout = "weighted(0,0)"}, POLYTILE_INVALID, "weighted(0,0)"},
    {"host,host", {.launches_per_exchange = -1}, POLYTILE_INVALID, "-1"},
    {"host,moon", {0}, POLYTILE_INVALID, "moon"},
    {"host,", {0}, POLYTILE_INVALID, "host"},
    {"", {0}, POLYTILE_INVALID, "host"},
    {"host,cuda:999", {0}, POLYTILE_UNSUPPORTED, "cuda:999"},
};

TEST_TABLE(ApiShare, SharesThatCannotBeAreRefused, wrong_shares) {
    polytile_queue *queue = NULL;
    CHECK_REFUSED(polytile_queue_create_shared(ctx, row->device, &row->options, &queue),
                  row->status, row->says);
    CHECK(queue == NULL);
}
