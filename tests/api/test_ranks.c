#include <polytile/polytile.h>
#include <polytile/ranks.h>

#include "support/c_test.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

/* Steps of a stencil over two vectors, in turn. */
typedef struct scene {
    polytile_kernel *kernel;
    polytile_array *there[2], *back[2];
    polytile_chain_launch launches[8];
    polytile_ranks_plan *plan;
    polytile_ranks_summary summary;
} scene;

static void set(polytile_context *ctx, scene *s) {
    memset(s, 0, sizeof *s);
    CHECK_OK(polytile_kernel_create(ctx, "step[i]: in A[i-1:i+1]; out B[i]", NULL, &s->kernel));
    for (int k = 0; k < 2; k++) {
        CHECK_OK(polytile_array_describe(ctx, k == 0 ? "A" : "B", POLYTILE_F32, POLYTILE_EXTENTS(N),
                                         &s->there[k]));
        s->back[1 - k] = s->there[k];
    }
    for (int k = 0; k < 8; k++)
        s->launches[k] = (polytile_chain_launch){
            s->kernel, *POLYTILE_INTERIOR(1, N), 2, k % 2 == 0 ? s->there : s->back, 0, NULL, {0}};
}

static polytile_status plan(scene *s, polytile_ranks_request request) {
    request.launches = s->launches;
    const polytile_status status = polytile_ranks_plan_create(&request, &s->plan);
    SPOIL(s->summary);
    polytile_ranks_plan_get_summary(s->plan, &s->summary);
    CHECK_RESERVED(s->summary);
    return status;
}

TEST_CASE(ApiRanks, SayWhoRunsWhatAndWhatTravels) {
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(&s, (polytile_ranks_request){
                          .n_launches = 4, .n_ranks = 4, .share.launches_per_exchange = 1}));
    CHECK_EQUAL(s.summary.n_ranks, 4);
    CHECK_EQUAL(s.summary.launches_per_exchange, 1);
    CHECK_EQUAL(s.summary.n_threads, 4 * (N - 2));
    CHECK_EQUAL(s.summary.n_repeated_threads, 0);
    CHECK(s.summary.n_exchanges >= 3);
    CHECK(s.summary.exchange_bytes > 0);
    CHECK(s.summary.busiest_bytes <= s.summary.exchange_bytes);
    CHECK_EQUAL(s.summary.combined_bytes, 0);
    CHECK(s.summary.busiest >= 0 && s.summary.busiest < 4);
}

TEST_CASE(ApiRanks, GiveEachLaunchItsScratch) {
    scene s;
    polytile_plan_summary of_rank;
    set(ctx, &s);
    CHECK_OK(polytile_kernel_create(
        ctx, "by_way[i]: scratch f64 w[i, 0:3]; in A[i-1:i+1]; out B[i]", NULL, &s.kernel));
    for (int k = 0; k < 8; k++)
        s.launches[k].kernel = s.kernel;
    CHECK_OK(plan(
        &s, (polytile_ranks_request){.n_launches = 3,
                                     .n_ranks = 2,
                                     .share.launches_per_exchange = 1,
                                     .options = &(polytile_plan_options){.limit_bytes = 8192}}));
    polytile_plan_get_summary(polytile_ranks_plan_get_inner(s.plan), &of_rank);
    CHECK_EQUAL(s.summary.n_threads, 3 * (N - 2));
    CHECK(of_rank.h2d_bytes >= N / 2 * 4 && of_rank.h2d_bytes < N * 4);
    CHECK(of_rank.d2h_bytes >= (N / 2 - 1) * 4 && of_rank.d2h_bytes < N * 4);
}

TEST_CASE(ApiRanks, ComputeBordersTwiceForFewerExchanges) {
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(&s, (polytile_ranks_request){
                          .n_launches = 8, .n_ranks = 4, .share.launches_per_exchange = 1}));
    const int n_exchanges = s.summary.n_exchanges;
    CHECK_OK(plan(&s, (polytile_ranks_request){
                          .n_launches = 8, .n_ranks = 4, .share.launches_per_exchange = 4}));
    CHECK(s.summary.n_exchanges < n_exchanges);
    CHECK(s.summary.launches_per_exchange > 1 && s.summary.launches_per_exchange <= 4);
    CHECK(s.summary.n_repeated_threads > 0);
    CHECK_EQUAL(s.summary.n_threads, 8 * (N - 2) + s.summary.n_repeated_threads);
}

TEST_CASE(ApiRanks, HaveSeveralDevicesEach) {
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(&s, (polytile_ranks_request){.n_launches = 2,
                                               .n_ranks = 2,
                                               .device = "host+host(memory=64KiB)",
                                               .share.launches_per_exchange = 1}));
    CHECK_EQUAL(s.summary.n_ranks, 4);
    CHECK_EQUAL(s.summary.n_exchanges, 2);
    CHECK_EQUAL(s.summary.exchange_bytes, 2 * 6 * 4);
}

TEST_CASE(ApiRanks, GetAllOfAttachedArraysInTheEnd) {
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(&s, (polytile_ranks_request){.n_launches = 1, .n_ranks = 2, .are_attached = 1}));
    CHECK_EQUAL(s.summary.exchange_bytes, (N - 2) * 4);
    CHECK_OK(plan(&s, (polytile_ranks_request){.n_launches = 1, .n_ranks = 2}));
    CHECK_EQUAL(s.summary.exchange_bytes, 2 * 4);
}

TEST_CASE(ApiRanks, AreDevicesOfOneProcessWhereThereAreNone) {
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(&s, (polytile_ranks_request){.n_launches = 2, .device = "host,host,host"}));
    CHECK_EQUAL(s.summary.n_ranks, 3);
    CHECK_EQUAL(s.summary.n_exchanges, 2);
    CHECK_EQUAL(s.summary.exchange_bytes, 4 * 4);
    CHECK_OK(plan(&s, (polytile_ranks_request){.n_launches = 2, .device = "cuda:0(memory=1GiB)"}));
    CHECK_EQUAL(s.summary.n_ranks, 1);
}

TEST_CASE(ApiRanks, PullWhatOthersHaveWhereTheyAreLinked) {
    scene s;
    set(ctx, &s);
    const polytile_plan_options options = {.limit_bytes = 1 << 20};
    polytile_ranks_request request = {.n_launches = 8,
                                      .device = "cuda:0,cuda:1",
                                      .options = &options,
                                      .share.launches_per_exchange = 2};
    CHECK_OK(plan(&s, request));
    CHECK_EQUAL(s.summary.pulled_bytes, 0);
    const int64_t exchange_bytes = s.summary.exchange_bytes;
    request.are_linked = 1;
    CHECK_OK(plan(&s, request));
    CHECK_EQUAL(s.summary.exchange_bytes, exchange_bytes);
    CHECK_EQUAL(s.summary.pulled_bytes, exchange_bytes);
    request.device = "host,host";
    CHECK_REFUSED(plan(&s, request), POLYTILE_INVALID, "host is not linked");
}

TEST_CASE(ApiRanks, OneAloneExchangesNothing) {
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(&s, (polytile_ranks_request){.n_launches = 2, .n_ranks = 1}));
    CHECK_EQUAL(s.summary.exchange_bytes, 0);
    CHECK_EQUAL(s.summary.busiest_bytes, 0);
    CHECK_EQUAL(s.summary.n_repeated_threads, 0);
}

static const polytile_ranks_request requests[] = {
    {.n_launches = 2, .n_ranks = 2, .share.layout = "block"},
    {.n_launches = 2, .n_ranks = 2, .share.layout = "block(dim=0)"},
    {.n_launches = 2, .n_ranks = 3, .share.layout = "cyclic(64)"},
    {.n_launches = 2, .n_ranks = 2, .share.layout = "weighted(2,1)"},
    {.n_launches = 2, .n_ranks = 4, .share.grid = "4"},
    {.n_launches = 2, .n_ranks = 2, .options = &(polytile_plan_options){.limit_bytes = 4096}},
};

TEST_TABLE(ApiRanks, HaveLayoutsGridsAndOptions, requests) {
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(&s, *row));
    CHECK_EQUAL(s.summary.n_ranks, row->n_ranks);
    polytile_ranks_plan_destroy(s.plan);
}

static const struct {
    polytile_ranks_request request;
    polytile_status status;
    const char *says;
} wrong_requests[] = {
    {{.n_launches = 2, .n_ranks = 0}, POLYTILE_INVALID, "0"},
    {{.n_launches = 2, .n_ranks = -1}, POLYTILE_INVALID, "-1"},
    {{.n_launches = 2, .n_ranks = 4097}, POLYTILE_INVALID, "4096"},
    {{.n_launches = 2, .n_ranks = 4, .share.grid = "3"}, POLYTILE_INVALID, "3"},
    {{.n_launches = 2, .n_ranks = 4, .share.layout = "spiral"}, POLYTILE_INVALID, "spiral"},
    {{.n_launches = 2, .n_ranks = 4, .share.layout = "weighted(2,1)"}, POLYTILE_INVALID, "weight"},
    {{.n_launches = 0, .n_ranks = 2}, POLYTILE_INVALID, "launch"},
    {{.n_launches = 2, .n_ranks = -1, .device = "host,host"}, POLYTILE_INVALID, "-1"},
    {{.n_launches = 2, .n_ranks = 2049, .device = "host,host"}, POLYTILE_INVALID, "2048"},
    {{.n_launches = 2, .device = "host,"}, POLYTILE_INVALID, "unknown device"},
    {{.n_launches = 2, .device = "host,cuda:1"}, POLYTILE_INVALID, "cuda:1(memory=16GiB)"},
    {{.n_launches = 2, .device = "host,host(threads=2)"}, POLYTILE_INVALID, "differ"},
    {{.n_launches = 2, .device = "host,host", .share.policy = "self(2)"},
     POLYTILE_UNSUPPORTED,
     "as they come free"},
    {{.n_launches = 2, .n_ranks = 2, .share.launches_per_exchange = -1}, POLYTILE_INVALID, "-1"},
    {{.n_launches = 2, .n_ranks = 2, .options = &(polytile_plan_options){.limit_bytes = 4}},
     POLYTILE_NO_FIT,
     "step"},
};

TEST_TABLE(ApiRanks, ThatCannotBeAreRefused, wrong_requests) {
    scene s;
    set(ctx, &s);
    CHECK_REFUSED(plan(&s, row->request), row->status, row->says);
    CHECK(s.plan == NULL);
}

TEST_CASE(ApiRanks, TheBusiestHasAPlanOfItsDevice) {
    polytile_plan_summary inner = {0};
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(
        &s, (polytile_ranks_request){.n_launches = 4,
                                     .n_ranks = 4,
                                     .options = &(polytile_plan_options){.limit_bytes = 4096}}));
    polytile_plan_get_summary(polytile_ranks_plan_get_inner(s.plan), &inner);
    CHECK_TEXT(inner.kernel, "step");
    CHECK(inner.peak_device_bytes > 0 && inner.peak_device_bytes <= 4096);
}

static const struct {
    polytile_format format;
    const char *begin;
} formats[] = {{POLYTILE_TEXT, ""}, {POLYTILE_JSON, "{"}, {POLYTILE_SVG, "<"}};

TEST_TABLE(ApiRanks, AreWrittenAsPlansAre, formats) {
    char *text = NULL;
    scene s;
    set(ctx, &s);
    CHECK_OK(plan(&s, (polytile_ranks_request){.n_launches = 2, .n_ranks = 4}));
    CHECK_OK(polytile_ranks_plan_to_string(s.plan, row->format, &text));
    CHECK_CONTAINS(text, "step");
    CHECK(strncmp(text, row->begin, strlen(row->begin)) == 0);
    free(text);
    CHECK_STATUS(polytile_ranks_plan_to_string(s.plan, (polytile_format)9, &text),
                 POLYTILE_INVALID);
}

TEST_CASE(ApiRanks, MayBeNull) {
    char *text = NULL;
    polytile_ranks_plan *plan = NULL;
    polytile_ranks_summary summary = {.n_ranks = 7};
    polytile_ranks_plan_get_summary(NULL, &summary);
    CHECK_EQUAL(summary.n_ranks, 0);
    polytile_ranks_plan_get_summary(NULL, NULL);
    CHECK(polytile_ranks_plan_get_inner(NULL) == NULL);
    polytile_ranks_plan_destroy(NULL);
    CHECK_REFUSED(polytile_ranks_plan_to_string(NULL, POLYTILE_TEXT, &text), POLYTILE_INVALID,
                  "plan is NULL");
    CHECK_STATUS(polytile_ranks_plan_create(NULL, &plan), POLYTILE_INVALID);
}
