#include <polytile/plan.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A launch over described arrays of 4-byte elements, n or n by n by what the declaration says. */
typedef struct scene {
    polytile_context *ctx;
    polytile_kernel *kernel;
    polytile_domain domain;
    polytile_array *arrays[4];
    int n_arrays;
    polytile_plan *plan;
    polytile_plan_summary summary;
    polytile_chain_summary chain;
} scene;

static scene set(polytile_context *ctx, const char *declaration, int n_dims, int64_t n) {
    scene s = {.ctx = ctx};
    const int64_t extents[] = {n, n};
    CHECK_OK(polytile_kernel_create(ctx, declaration, NULL, &s.kernel));
    s.domain = polytile_domain_from_extents(polytile_kernel_get_n_indices(s.kernel), extents);
    s.n_arrays = polytile_kernel_get_n_arrays(s.kernel);
    for (int k = 0; k < s.n_arrays; k++) {
        const polytile_domain domain = polytile_domain_from_extents(n_dims, extents);
        CHECK_OK(polytile_array_describe(ctx, polytile_kernel_get_array_name(s.kernel, k),
                                         POLYTILE_F32, &domain, &s.arrays[k]));
    }
    return s;
}

static polytile_status plan_launch(scene *s, const polytile_launch_options *options) {
    const polytile_status status =
        polytile_plan_create(s->kernel, &s->domain, s->n_arrays, s->arrays, options, &s->plan);
    SPOIL(s->summary);
    SPOIL(s->chain);
    polytile_plan_get_summary(s->plan, &s->summary);
    polytile_plan_get_chain_summary(s->plan, &s->chain);
    CHECK_RESERVED(s->summary);
    CHECK_RESERVED(s->chain);
    return status;
}

static polytile_status plan(scene *s, const polytile_plan_options *options) {
    return plan_launch(s, options == NULL ? NULL : &(polytile_launch_options){.plan = *options});
}

#define ADD "add[i, j]: in A[i, j], B[i, j]; out C[i, j]"

TEST_CASE(ApiPlan, WithoutALimitIsOneKernelThatMovesNothing) {
    scene s = set(ctx, ADD, 2, 100);
    CHECK_OK(plan(&s, NULL));
    CHECK_TEXT(s.summary.kernel, "add");
    CHECK_TEXT(s.summary.strategy, "min-time");
    CHECK_TEXT(s.summary.bound, "");
    CHECK_EQUAL(s.summary.n_dims, 2);
    CHECK_EQUAL(s.summary.n_kernels, 1);
    CHECK_EQUAL(s.chain.n_launches, 1);
    CHECK_EQUAL(s.chain.launches_per_pass, 1);
    CHECK_EQUAL(s.chain.n_passes, 1);
    CHECK_EQUAL(s.chain.slab_threads, 0);
    CHECK_EQUAL(s.summary.limit_bytes, 0);
    CHECK_EQUAL(s.summary.h2d_bytes, 0);
    CHECK_EQUAL(s.summary.d2h_bytes, 0);
}

static const polytile_plan_options limited[] = {
    {.limit_bytes = 40000},
    {.limit_bytes = 5000},
    {.limit_bytes = 5000, .strategy = "min-traffic"},
    {.limit_bytes = 5000, .strategy = "min-kernels"},
    {.limit_bytes = 40000, .strategy = "paper"},
    {.limit_bytes = 5000, .n_buffers = 1},
    {.limit_bytes = 5000, .n_buffers = 2},
    {.limit_bytes = 5000, .n_buffers = 3},
    {.limit_bytes = 20000, .block = (const int64_t[]){7, 9}},
    {.limit_bytes = 5000, .link = &polytile_link_default},
};

TEST_TABLE(ApiPlan, FitsItsLimitAndMovesNoLessThanItsBound, limited) {
    scene s = set(ctx, ADD, 2, 100);
    if (!CHECK_OK(plan(&s, row)))
        return;
    CHECK_EQUAL(s.summary.limit_bytes, row->limit_bytes);
    CHECK(s.summary.peak_device_bytes > 0);
    CHECK(s.summary.peak_device_bytes <= row->limit_bytes);
    CHECK_EQUAL(s.summary.h2d_bytes, 80000);
    CHECK_EQUAL(s.summary.d2h_bytes, 40000);
    CHECK_EQUAL(s.summary.lower_bound_bytes, 120000);
    CHECK_EQUAL(s.summary.lower_bound_h2d_bytes, 80000);
    CHECK_TEXT(s.summary.strategy, row->strategy == NULL ? "min-time" : row->strategy);
    CHECK(row->n_buffers == 0 || s.summary.n_buffers == row->n_buffers);
    CHECK(s.summary.predicted_seconds > 0);
    if (row->block != NULL) {
        CHECK_EQUAL(s.summary.block[0], 7);
        CHECK_EQUAL(s.summary.block[1], 9);
        CHECK_EQUAL(s.summary.grid_blocks[0], 15);
        CHECK_EQUAL(s.summary.grid_blocks[1], 12);
    }
}

static int64_t begin_of(const polytile_range *range, int64_t block) {
    return range->lo % block;
}

static bool ends_block(const polytile_range *range, int64_t block, int64_t last) {
    return range->hi == last || (range->hi + 1) % block == 0;
}

TEST_TABLE(ApiPlan, SuperblocksAreWholeBlocksThatCoverTheDomainOnce, limited) {
    static char n_times[100][100];
    scene s = set(ctx, ADD, 2, 100);
    memset(n_times, 0, sizeof n_times);
    if (!CHECK_OK(plan(&s, row)))
        return;
    for (int64_t k = 0; k < s.summary.n_kernels; k++) {
        polytile_domain threads;
        CHECK_OK(polytile_plan_get_superblock(s.plan, k, &threads));
        for (int d = 0; d < 2; d++) {
            CHECK_EQUAL(begin_of(&threads.range[d], s.summary.block[d]), 0);
            CHECK(ends_block(&threads.range[d], s.summary.block[d], 99));
        }
        for (int64_t i = threads.range[0].lo; i <= threads.range[0].hi; i++)
            for (int64_t j = threads.range[1].lo; j <= threads.range[1].hi; j++)
                n_times[i][j]++;
    }
    CHECK(memchr(n_times, 0, sizeof n_times) == NULL);
    CHECK(memchr(n_times, 2, sizeof n_times) == NULL);
}

TEST_CASE(ApiPlan, HasNoSuperblocksBesideItsOwn) {
    polytile_domain threads;
    scene s = set(ctx, ADD, 2, 100);
    CHECK_OK(plan(&s, &limited[1]));
    CHECK_REFUSED(polytile_plan_get_superblock(s.plan, -1, &threads), POLYTILE_INVALID, "-1");
    CHECK_REFUSED(polytile_plan_get_superblock(s.plan, s.summary.n_kernels, &threads),
                  POLYTILE_INVALID, "add");
    CHECK_REFUSED(polytile_plan_get_superblock(s.plan, 0, NULL), POLYTILE_INVALID, "");
}

TEST_CASE(ApiPlan, ThatFitsNowhereNamesEachArraysShareAndWhatWouldHelp) {
    scene s = set(ctx, "matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]", 2, 512);
    CHECK_REFUSED(plan(&s, &(polytile_plan_options){.limit_bytes = 2048}), POLYTILE_NO_FIT,
                  "matmul", "A", "B", "C");
    CHECK_CONTAINS(polytile_last_error(ctx), "2 KiB");
    CHECK(s.plan == NULL);
}

static const struct {
    const char *declaration;
    int n_dims;
    polytile_plan_options options;
    polytile_status status;
    const char *object, *value;
} wrong_plans[] = {
    {"k[i]: in A[i]; out A[i+1]", 1, {0}, POLYTILE_DECLARATION, "k", "A"},
    {"k[i]: in A[i]; out B[0]", 1, {0}, POLYTILE_CONFLICT, "k", "B[0]"},
    {"k[i]: in A[9-i]; out A[i]", 1, {0}, POLYTILE_CONFLICT, "k", "A["},
    {"k[i]: in A[i+1]; out B[i]", 1, {0}, POLYTILE_DECLARATION, "k", "A"},
    {"k[i]: in A[i]; out B[i]", 2, {0}, POLYTILE_DECLARATION, "A", "2"},
    {"k[i]: in A[i, 0]; out B[i]", 1, {0}, POLYTILE_DECLARATION, "A", "1"},
    {"k[i]: in A[i+n]; out B[i]", 1, {0}, POLYTILE_DECLARATION, "k", "n"},
    {"k[i]: sum A[i]; in A[i]", 1, {0}, POLYTILE_DECLARATION, "k", "A"},
    {"k[i]: in A[i]; out B[i]", 1, {.limit_bytes = -1}, POLYTILE_INVALID, "k", "-1"},
    {"k[i]: in A[i]; out B[i]",
     1,
     {.strategy = "fastest"},
     POLYTILE_INVALID,
     "fastest",
     "min-time"},
    {"k[i]: in A[i]; out B[i]", 1, {.n_buffers = 4}, POLYTILE_INVALID, "k", "4"},
    {"k[i]: in A[i]; out B[i]", 1, {.n_buffers = -1}, POLYTILE_INVALID, "k", "-1"},
    {"k[i]: in A[i]; out B[i]", 1, {.block = (const int64_t[]){0}}, POLYTILE_INVALID, "block", "0"},
    {"k[i]: in A[i]; out B[i]", 1, {.launches_per_pass = -2}, POLYTILE_INVALID, "", "-2"},
    {"k[i]: in A[2305843009213693952*i]; out B[i]", 1, {0}, POLYTILE_OVERFLOW, "k", "A"},
    {"k[i]: in A[i]; out B[i]",
     1,
     {.link = &(const polytile_link){.upload_bytes_per_s = -1}},
     POLYTILE_INVALID,
     "k",
     ""},
};

TEST_TABLE(ApiPlan, ThatCannotBeIsRefusedWithItsReason, wrong_plans) {
    scene s = set(ctx, row->declaration, row->n_dims, 10);
    CHECK_REFUSED(plan(&s, &row->options), row->status, row->object);
    CHECK_CONTAINS(polytile_last_error(ctx), row->value);
    CHECK(s.plan == NULL);
}

static const polytile_domain wrong_domains[] = {
    {2, {{0, 9, 1}, {0, 9, 1}}}, {1, {{0, 8, 0}}},  {0, {{0, 0, 1}}},
    {1, {{0, 20, 1}}},           {1, {{0, -1, 1}}},
};

TEST_TABLE(ApiPlan, HasADomainWithARangePerIndex, wrong_domains) {
    scene s = set(ctx, "k[i]: in A[i]; out B[i]", 1, 10);
    s.domain = *row;
    const polytile_status status = plan(&s, NULL);
    CHECK(status == POLYTILE_INVALID || status == POLYTILE_DECLARATION);
    CHECK_CONTAINS(polytile_last_error(ctx), "k");
    CHECK(s.plan == NULL);
}

TEST_CASE(ApiPlan, NeedsAKernelADomainArraysAndAPlace) {
    scene s = set(ctx, "k[i]: in A[i]; out B[i]", 1, 10);
    polytile_array *lacking[] = {s.arrays[0], NULL};
    CHECK_REFUSED(polytile_plan_create(NULL, &s.domain, 2, s.arrays, NULL, &s.plan),
                  POLYTILE_INVALID, "kernel is NULL");
    CHECK_REFUSED(polytile_plan_create(s.kernel, NULL, 2, s.arrays, NULL, &s.plan),
                  POLYTILE_INVALID, "k", "domain");
    CHECK_REFUSED(polytile_plan_create(s.kernel, &s.domain, 2, NULL, NULL, &s.plan),
                  POLYTILE_INVALID, "k");
    CHECK_REFUSED(polytile_plan_create(s.kernel, &s.domain, 2, lacking, NULL, &s.plan),
                  POLYTILE_INVALID, "k", "B");
    CHECK_REFUSED(polytile_plan_create(s.kernel, &s.domain, 2, s.arrays, NULL, NULL),
                  POLYTILE_INVALID, "k");
}

TEST_CASE(ApiPlan, CopiesWhatItNeeds) {
    scene s = set(ctx, ADD, 2, 100);
    CHECK_OK(plan(&s, &limited[1]));
    polytile_kernel_destroy(s.kernel);
    for (int k = 0; k < s.n_arrays; k++)
        polytile_array_destroy(s.arrays[k]);
    polytile_plan_get_summary(s.plan, &s.summary);
    CHECK_TEXT(s.summary.kernel, "add");
    polytile_plan_destroy(s.plan);
}

static const struct {
    polytile_format format;
    const char *begin, *part;
} formats[] = {
    {POLYTILE_TEXT, "", "add"}, {POLYTILE_JSON, "{", "\"add\""}, {POLYTILE_SVG, "<", "<svg"}};

TEST_TABLE(ApiPlan, IsWrittenForPeopleProgramsAndAsAPicture, formats) {
    char *text = NULL;
    scene s = set(ctx, ADD, 2, 100);
    CHECK_OK(plan(&s, &limited[1]));
    CHECK_OK(polytile_plan_to_string(s.plan, row->format, &text));
    CHECK_CONTAINS(text, row->begin, row->part);
    CHECK(strncmp(text, row->begin, strlen(row->begin)) == 0);
    free(text);
}

TEST_CASE(ApiPlan, OfNoFormatIsNotWritten) {
    char given[] = "text", *text = given;
    scene s = set(ctx, ADD, 2, 100);
    CHECK_OK(plan(&s, NULL));
    CHECK_REFUSED(polytile_plan_to_string(s.plan, (polytile_format)9, &text), POLYTILE_INVALID,
                  "9");
    CHECK(text == NULL);
    CHECK_REFUSED(polytile_plan_to_string(s.plan, POLYTILE_TEXT, NULL), POLYTILE_INVALID, "");
}

TEST_CASE(ApiPlan, MayBeNull) {
    char *text = NULL;
    polytile_domain threads;
    polytile_plan_summary summary = {.n_dims = 7, .bound_bytes = 7};
    polytile_plan_get_summary(NULL, &summary);
    CHECK_TEXT(summary.kernel, "");
    CHECK_TEXT(summary.strategy, "");
    CHECK_TEXT(summary.bound, "");
    CHECK_EQUAL(summary.n_dims, 0);
    CHECK_EQUAL(summary.bound_bytes, 0);
    polytile_plan_get_summary(NULL, NULL);
    polytile_chain_summary chain = {.n_launches = 7};
    polytile_plan_get_chain_summary(NULL, &chain);
    CHECK_EQUAL(chain.n_launches, 0);
    polytile_plan_get_chain_summary(NULL, NULL);
    polytile_plan_destroy(NULL);
    CHECK_REFUSED(polytile_plan_get_superblock(NULL, 0, &threads), POLYTILE_INVALID,
                  "plan is NULL");
    CHECK_REFUSED(polytile_plan_to_string(NULL, POLYTILE_TEXT, &text), POLYTILE_INVALID,
                  "plan is NULL");
}

/* Parameters. */

static polytile_status plan_with(scene *s, int n_parameters, const polytile_parameter *parameters) {
    const polytile_launch_options options = {.n_parameters = n_parameters,
                                             .parameters = parameters};
    return plan_launch(s, &options);
}

TEST_CASE(ApiPlan, HasAValueForEachParameter) {
    scene s = set(ctx, "k[i]: in A[i+n:i+m]; out B[i]", 1, 10);
    s.domain.range[0].hi = 4;
    CHECK_OK(plan_with(
        &s, 2,
        (const polytile_parameter[]){POLYTILE_PARAMETER("m", 3), POLYTILE_PARAMETER("n", 1)}));
    CHECK_REFUSED(plan_with(&s, 1, (const polytile_parameter[]){POLYTILE_PARAMETER("m", 3)}),
                  POLYTILE_DECLARATION, "k", "n");
    CHECK_REFUSED(plan_with(&s, 2,
                            (const polytile_parameter[]){POLYTILE_PARAMETER("m", 30),
                                                         POLYTILE_PARAMETER("n", 20)}),
                  POLYTILE_DECLARATION, "k", "A");
    const polytile_status other = plan_with(
        &s, 3,
        (const polytile_parameter[]){POLYTILE_PARAMETER("m", 3), POLYTILE_PARAMETER("n", 1),
                                     POLYTILE_PARAMETER("o", 1)});
    CHECK(other == POLYTILE_INVALID || other == POLYTILE_DECLARATION);
    CHECK_CONTAINS(polytile_last_error(ctx), "o");
    const polytile_status twice = plan_with(
        &s, 3,
        (const polytile_parameter[]){POLYTILE_PARAMETER("m", 3), POLYTILE_PARAMETER("n", 1),
                                     POLYTILE_PARAMETER("n", 1)});
    CHECK(twice == POLYTILE_INVALID || twice == POLYTILE_DECLARATION);
    CHECK_CONTAINS(polytile_last_error(ctx), "n");
    CHECK_REFUSED(plan_with(&s, 2, NULL), POLYTILE_INVALID, "k");
}

/* Several launches. */

#define STEP "step[i]: in A[i-1:i+1]; out B[i]"

/* A and B in turn, over a vector of n floats. */
typedef struct chain {
    scene s;
    polytile_array *back[2];
    polytile_chain_launch launches[8];
} chain;

static chain set_chain(polytile_context *ctx, int64_t n, chain *c) {
    c->s = set(ctx, STEP, 1, n);
    c->back[0] = c->s.arrays[1];
    c->back[1] = c->s.arrays[0];
    for (int k = 0; k < 8; k++)
        c->launches[k] = (polytile_chain_launch){
            c->s.kernel, *POLYTILE_INTERIOR(1, n), 2, k % 2 == 0 ? c->s.arrays : c->back, 0, NULL,
            {0}};
    return *c;
}

static polytile_status plan_chain(chain *c, int n_launches, int n_scratch,
                                  const polytile_plan_options *options) {
    const polytile_status status = polytile_plan_create_chain(n_launches, c->launches, n_scratch,
                                                              c->back, options, &c->s.plan);
    polytile_plan_get_summary(c->s.plan, &c->s.summary);
    polytile_plan_get_chain_summary(c->s.plan, &c->s.chain);
    return status;
}

TEST_CASE(ApiPlan, OfSeveralLaunchesMovesDataOnceForManyOfThem) {
    chain c;
    set_chain(ctx, 1 << 20, &c);
    CHECK_OK(plan_chain(&c, 8, 0, &(polytile_plan_options){.limit_bytes = 1 << 20}));
    CHECK_EQUAL(c.s.chain.n_launches, 8);
    CHECK(c.s.chain.launches_per_pass > 1);
    CHECK(c.s.chain.slab_threads > 0);
    CHECK(c.s.chain.n_passes < 8);
    CHECK(c.s.summary.peak_device_bytes <= 1 << 20);
    const int64_t fused_bytes = c.s.summary.h2d_bytes;
    CHECK_OK(plan_chain(&c, 8, 0,
                        &(polytile_plan_options){.limit_bytes = 1 << 20, .launches_per_pass = 1}));
    CHECK_EQUAL(c.s.chain.launches_per_pass, 1);
    CHECK_EQUAL(c.s.chain.slab_threads, 0);
    CHECK(c.s.summary.h2d_bytes > fused_bytes);
}

static const char *const apart[] = {"min-kernels", "paper"};

TEST_TABLE(ApiPlan, OfFewestKernelsFusesNoLaunches, apart) {
    chain c;
    set_chain(ctx, 1 << 16, &c);
    CHECK_OK(
        plan_chain(&c, 4, 0, &(polytile_plan_options){.limit_bytes = 1 << 16, .strategy = *row}));
    CHECK_EQUAL(c.s.chain.launches_per_pass, 1);
    CHECK_EQUAL(c.s.chain.slab_threads, 0);
}

TEST_CASE(ApiPlan, OfSeveralLaunchesInPlaceMovesNothing) {
    chain c;
    set_chain(ctx, 1 << 16, &c);
    CHECK_OK(plan_chain(&c, 8, 0, NULL));
    CHECK_EQUAL(c.s.summary.limit_bytes, 0);
    CHECK_EQUAL(c.s.chain.slab_threads, 0);
    CHECK_EQUAL(c.s.summary.h2d_bytes, 0);
}

TEST_CASE(ApiPlan, ScratchDoesNotMoveWhereAllFits) {
    chain c;
    set_chain(ctx, 1000, &c);
    CHECK_OK(plan_chain(&c, 2, 1, &(polytile_plan_options){.limit_bytes = 1 << 20}));
    CHECK_EQUAL(c.s.summary.h2d_bytes, 4000);
    CHECK_EQUAL(c.s.summary.d2h_bytes, 4 * 998);
}

TEST_CASE(ApiPlan, OfSeveralLaunchesNeedsThem) {
    chain c;
    set_chain(ctx, 1000, &c);
    CHECK_STATUS(plan_chain(&c, 0, 0, NULL), POLYTILE_INVALID);
    CHECK(c.s.plan == NULL);
    CHECK_STATUS(polytile_plan_create_chain(1, NULL, 0, NULL, NULL, &c.s.plan), POLYTILE_INVALID);
    c.launches[1].kernel = NULL;
    CHECK_REFUSED(plan_chain(&c, 2, 0, NULL), POLYTILE_INVALID, "launch 2 of 2", "no kernel");
    c.launches[1].kernel = c.s.kernel;
    c.launches[1].arrays = (polytile_array *const[]){c.s.arrays[0], c.s.arrays[0]};
    CHECK_REFUSED(plan_chain(&c, 2, 0, NULL), POLYTILE_CONFLICT, "launch 2 of 2", "step", "A[1]");
}

TEST_CASE(ApiPlan, OfSeveralLaunchesIsOfOneContext) {
    polytile_context *other = NULL;
    chain c, foreign;
    CHECK_OK(polytile_context_create(&other));
    set_chain(ctx, 1000, &c);
    set_chain(other, 1000, &foreign);
    c.launches[1] = foreign.launches[1];
    CHECK_REFUSED(plan_chain(&c, 2, 0, NULL), POLYTILE_INVALID, "step", "context");
    polytile_context_destroy(other);
}

/* Proofs. */

TEST_CASE(ApiPlan, ACheckProvesALaunchOfAnySize) {
    scene s = set(ctx, ADD, 2, INT64_C(1) << 24);
    CHECK_OK(polytile_check(s.kernel, &s.domain, s.n_arrays, s.arrays, NULL));
    CHECK_OK(polytile_check(s.kernel, &s.domain, s.n_arrays, s.arrays,
                            &(polytile_launch_options){.plan.limit_bytes = 1}));
}

TEST_CASE(ApiPlan, ACheckNamesTheArrayTheThreadAndTheElement) {
    scene s = set(ctx, "smooth[i]: in A[i-1:i+1]; out A[i]", 1, 10);
    s.domain = *POLYTILE_INTERIOR(1, 10);
    CHECK_REFUSED(polytile_check(s.kernel, &s.domain, s.n_arrays, s.arrays, NULL),
                  POLYTILE_CONFLICT, "smooth", "threads [", "A[");
    s = set(ctx, "far[i]: in {[i] -> A[a] : a = 3i}; out B[i]", 1, 10);
    CHECK_REFUSED(polytile_check(s.kernel, &s.domain, s.n_arrays, s.arrays, NULL),
                  POLYTILE_DECLARATION, "far", "A");
}

TEST_CASE(ApiPlan, AChainReadsNothingThatHasNoValue) {
    chain c;
    set_chain(ctx, 1000, &c);
    CHECK_OK(polytile_check_chain(2, c.launches, 0, NULL, NULL));
    CHECK_REFUSED(polytile_check_chain(2, c.launches, 1, c.back, NULL), POLYTILE_DECLARATION,
                  "launch 2 of 2", "B[0]");
    c.launches[1].domain = polytile_domain_from_interior(2, 1, (int64_t[]){1000});
    CHECK_OK(polytile_check_chain(2, c.launches, 1, c.back, NULL));
    CHECK_STATUS(polytile_check_chain(0, c.launches, 0, NULL, NULL), POLYTILE_INVALID);
}

/** Stages of butterflies that are 128 rows and more apart pass over the array together. */
TEST_CASE(ApiPlan, OfButterfliesFarApartIsOnePass) {
    static const char *const stages[] = {"f[a, k, j]: inout x[256*a+k, j], x[256*a+k+128, j]",
                                         "g[a, k, j]: inout x[512*a+k, j], x[512*a+k+256, j]",
                                         "h[a, k, j]: inout x[1024*a+k, j], x[1024*a+k+512, j]"};
    polytile_array *x = NULL;
    polytile_chain_launch launches[3];
    polytile_plan_options options = {.limit_bytes = 8 << 20};
    polytile_plan *plan = NULL;
    polytile_chain_summary summary;
    polytile_plan_summary all;
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(32768, 1024), &x));
    for (int s = 0; s < 3; s++) {
        polytile_kernel *kernel = NULL;
        CHECK_OK(polytile_kernel_create(ctx, stages[s], NULL, &kernel));
        launches[s] = (polytile_chain_launch){.kernel = kernel,
                                              .domain = *POLYTILE_EXTENTS(128 >> s, 128 << s, 1024),
                                              .n_arrays = 1,
                                              .arrays = &x};
    }
    CHECK_OK(polytile_plan_create_chain(3, launches, 0, NULL, &options, &plan));
    polytile_plan_get_chain_summary(plan, &summary);
    polytile_plan_get_summary(plan, &all);
    CHECK_EQUAL(summary.n_passes, 1);
    CHECK_EQUAL(all.h2d_bytes, (int64_t)4 * 32768 * 1024);
}

/** Superblocks are the program's threads. */
TEST_CASE(ApiPlan, OfADomainWithStepsHasTheSteps) {
    polytile_array *x = NULL;
    polytile_kernel *kernel = NULL;
    polytile_plan *plan = NULL;
    polytile_domain threads;
    const polytile_domain odd = {1, {{1, 99, 2}}};
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(100), &x));
    CHECK_OK(polytile_kernel_create(ctx, "f[i]: inout x[i]", NULL, &kernel));
    CHECK_OK(polytile_plan_create(kernel, &odd, 1, &x, NULL, &plan));
    CHECK_OK(polytile_plan_get_superblock(plan, 0, &threads));
    CHECK_EQUAL(threads.range[0].lo, 1);
    CHECK_EQUAL(threads.range[0].hi, 99);
    CHECK_EQUAL(threads.range[0].step, 2);
}
