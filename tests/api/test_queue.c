#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/queue.h>

#include "support/c_test.h"

#include <sched.h>
#include <stdatomic.h>

enum { N = 1024 };

POLYTILE_KERNEL(shift, (i), (const double, x, 1), (double, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i - 1) + PT_AT(x, i + 1);
}

POLYTILE_KERNEL(add_one, (i), (double, x, 1)) {
    PT_AT(x, i) += 1;
}

/* A queue, and two arrays of N numbers, of which the first holds 0, 1, 2, ... */
typedef struct scene {
    polytile_queue *queue;
    double x[N], y[N];
    polytile_array *a, *b;
    polytile_kernel *shift, *add_one;
} scene;

static void set(polytile_context *ctx, const char *device_text, scene *s) {
    for (int k = 0; k < N; k++) {
        s->x[k] = k;
        s->y[k] = 0;
    }
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F64, 1, (int64_t[]){N}, s->x, &s->a));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F64, 1, (int64_t[]){N}, s->y, &s->b));
    CHECK_OK(polytile_kernel_create(ctx, "shift[i]: in x[i-1], x[i+1]; out y[i]", &shift_kernel,
                                    &s->shift));
    CHECK_OK(polytile_kernel_create(ctx, "add_one[i]: inout x[i]", &add_one_kernel, &s->add_one));
    CHECK_OK(polytile_queue_create(ctx, device_text, &s->queue));
}

static polytile_status add_one_to(const scene *s, polytile_array *array) {
    return polytile_queue_launch(s->queue, s->add_one, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(array),
                                 NULL);
}

static polytile_status shift_to(const scene *s, polytile_array *from, polytile_array *to) {
    return polytile_queue_launch(s->queue, s->shift, POLYTILE_INTERIOR(1, N),
                                 POLYTILE_ARRAYS(from, to), NULL);
}

static polytile_report report_of(const scene *s) {
    polytile_report report;
    SPOIL(report);
    polytile_queue_get_report(s->queue, false, &report);
    CHECK_RESERVED(report);
    return report;
}

static const char *const devices[] = {"host", "host(memory=1MiB)", "host(memory=4KiB)", "host,host",
                                      "host(memory=8KiB),host(memory=1MiB,threads=2)"};

TEST_TABLE(ApiQueue, ResultsAreThoseOfRunningInOrder, devices) {
    scene s;
    set(ctx, *row, &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    for (int k = 0; k < 3; k++) {
        CHECK_OK(shift_to(&s, s.a, s.b));
        CHECK_OK(shift_to(&s, s.b, s.a));
    }
    CHECK_OK(add_one_to(&s, s.a));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_NEAR(s.x[500], 64 * 500 + 1, 0);
    CHECK_NEAR(s.y[500], 32 * 500, 0);
    CHECK_NEAR(s.x[0], 1, 0);
}

TEST_CASE(ApiQueue, ArraysThatFitMoveOnceThereAndOnceBack) {
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    for (int k = 0; k < 100; k += 2) {
        CHECK_OK(shift_to(&s, s.a, s.b));
        CHECK_OK(shift_to(&s, s.b, s.a));
    }
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    const polytile_report report = report_of(&s);
    CHECK_EQUAL(report.n_launches, 100);
    CHECK(report.n_kernels >= 100);
    CHECK(report.h2d_bytes <= 2 * N * (int64_t)sizeof(double));
    CHECK(report.d2h_bytes <= 2 * N * (int64_t)sizeof(double));
    CHECK(report.peak_device_bytes <= 1 << 20);
    CHECK(report.enqueue_s > 0 && report.run_s > 0);
}

TEST_CASE(ApiQueue, AttachingMovesNothingAndDetachingOnlyWhatWasWritten) {
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_EQUAL(report_of(&s).h2d_bytes, 0);
    CHECK_OK(shift_to(&s, s.a, s.b));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_EQUAL(report_of(&s).h2d_bytes, N * sizeof(double));
    CHECK_EQUAL(report_of(&s).d2h_bytes, (N - 2) * sizeof(double));
}

TEST_CASE(ApiQueue, ByNameIsEachOperandTheArrayOfItsName) {
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.b, s.a)));
    CHECK_OK(
        polytile_queue_launch(s.queue, s.shift, POLYTILE_INTERIOR(1, N), POLYTILE_BY_NAME, NULL));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.b)));
    CHECK_NEAR(s.y[3], 6, 0);
    CHECK_REFUSED(
        polytile_queue_launch(s.queue, s.shift, POLYTILE_INTERIOR(1, N), POLYTILE_BY_NAME, NULL),
        POLYTILE_INVALID, "shift", "y");
}

TEST_CASE(ApiQueue, ANameThatTwoArraysHaveIsRefused) {
    polytile_array *twin = NULL;
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_create_array(s.queue, "x", POLYTILE_F64, 1, (int64_t[]){N}, &twin));
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_REFUSED(
        polytile_queue_launch(s.queue, s.shift, POLYTILE_INTERIOR(1, N), POLYTILE_BY_NAME, NULL),
        POLYTILE_INVALID, "shift", "x");
}

TEST_CASE(ApiQueue, OneArrayMayStandForOperandsThatTouchDifferentElements) {
    const char *const text = "sum[i]: in p[i], q[i]; inout x[i]";
    static const polytile_implementation nothing = {0};
    polytile_kernel *kernel = NULL;
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(polytile_kernel_create(ctx, text, &nothing, &kernel));
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_REFUSED(polytile_queue_launch(s.queue, kernel, POLYTILE_EXTENTS(N),
                                        POLYTILE_ARRAYS(s.a, s.a, s.b), NULL),
                  POLYTILE_UNSUPPORTED, "sum", "host");
    CHECK_REFUSED(polytile_queue_launch(s.queue, s.shift, POLYTILE_INTERIOR(1, N),
                                        POLYTILE_ARRAYS(s.a, s.a), NULL),
                  POLYTILE_CONFLICT, "shift", "x[1]");
    CHECK_OK(polytile_queue_launch(s.queue, s.shift, POLYTILE_INTERIOR(1, 3),
                                   POLYTILE_ARRAYS(s.a, s.a), NULL));
}

/* What is refused changes nothing. */

TEST_CASE(ApiQueue, ALaunchThatIsRefusedChangesNothing) {
    polytile_queue *other = NULL;
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_create(ctx, "host", &other));
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_REFUSED(shift_to(&s, s.a, s.b), POLYTILE_INVALID, "shift", "y", "attach");
    CHECK_OK(polytile_queue_attach(other, POLYTILE_ARRAYS(s.b)));
    CHECK_REFUSED(shift_to(&s, s.a, s.b), POLYTILE_INVALID, "shift", "y");
    CHECK_REFUSED(polytile_queue_launch(s.queue, s.add_one, POLYTILE_EXTENTS(N),
                                        POLYTILE_ARRAYS(s.a, s.a), NULL),
                  POLYTILE_INVALID, "add_one", "2", "1");
    CHECK_REFUSED(polytile_queue_launch(s.queue, s.add_one, POLYTILE_EXTENTS(2 * N),
                                        POLYTILE_ARRAYS(s.a), NULL),
                  POLYTILE_DECLARATION, "add_one", "x");
    CHECK_REFUSED(polytile_queue_launch(s.queue, s.add_one, POLYTILE_EXTENTS(N),
                                        POLYTILE_ARRAYS(s.a),
                                        &(polytile_launch_options){.plan.limit_bytes = 4096}),
                  POLYTILE_INVALID, "add_one", "limit");
    CHECK_REFUSED(
        polytile_queue_launch(s.queue, NULL, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(s.a), NULL),
        POLYTILE_INVALID, "kernel");
    CHECK_REFUSED(polytile_queue_launch(s.queue, s.add_one, NULL, POLYTILE_ARRAYS(s.a), NULL),
                  POLYTILE_INVALID, "domain");
    CHECK_OK(polytile_queue_wait(s.queue));
    CHECK_EQUAL(report_of(&s).n_launches, 0);
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_NEAR(s.x[7], 7, 0);
}

TEST_CASE(ApiQueue, ALaunchThatFitsNowhereIsRefusedAtOnce) {
    scene s;
    set(ctx, "host(memory=1B)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_REFUSED(shift_to(&s, s.a, s.b), POLYTILE_NO_FIT, "shift", "x", "1 B");
}

TEST_CASE(ApiQueue, AttachesAllArraysOfAListOrNone) {
    polytile_array *described = NULL, *part = NULL;
    polytile_queue *other = NULL;
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(polytile_queue_create(ctx, "host", &other));
    CHECK_OK(polytile_array_describe(ctx, "big", POLYTILE_F64, POLYTILE_EXTENTS(N), &described));
    CHECK_OK(polytile_array_wrap(ctx, "part", POLYTILE_F64, 1, (int64_t[]){4}, s.x + 9, &part));
    CHECK_REFUSED(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, described)), POLYTILE_INVALID,
                  "big", "memory");
    CHECK_REFUSED(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.a)), POLYTILE_INVALID, "x",
                  "twice");
    CHECK_REFUSED(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, part)), POLYTILE_INVALID,
                  "part");
    CHECK_STATUS(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, NULL)), POLYTILE_INVALID);
    CHECK_STATUS(polytile_queue_attach(s.queue, 0, NULL), POLYTILE_INVALID);
    CHECK_REFUSED(polytile_queue_attach(NULL, POLYTILE_ARRAYS(s.a)), POLYTILE_INVALID,
                  "queue is NULL");
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_REFUSED(polytile_queue_attach(other, POLYTILE_ARRAYS(s.a)), POLYTILE_INVALID, "x");
    CHECK_REFUSED(polytile_queue_attach(other, POLYTILE_ARRAYS(part)), POLYTILE_INVALID, "part",
                  "x");
}

TEST_CASE(ApiQueue, AnArrayOfAnotherContextIsRefused) {
    polytile_context *other = NULL;
    polytile_array *foreign = NULL;
    double memory[4];
    scene s;
    set(ctx, "host", &s);
    CHECK_OK(polytile_context_create(&other));
    CHECK_OK(
        polytile_array_wrap(other, "foreign", POLYTILE_F64, 1, (int64_t[]){4}, memory, &foreign));
    CHECK_REFUSED(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(foreign)), POLYTILE_INVALID,
                  "foreign", "context");
    polytile_context_destroy(other);
}

TEST_CASE(ApiQueue, DetachesAllArraysOfAListOrNone) {
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_REFUSED(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)), POLYTILE_INVALID, "y");
    CHECK_OK(add_one_to(&s, s.a));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_REFUSED(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a)), POLYTILE_INVALID, "x");
    CHECK_REFUSED(polytile_queue_detach(NULL, POLYTILE_ARRAYS(s.a)), POLYTILE_INVALID,
                  "queue is NULL");
    CHECK_NEAR(s.x[7], 8, 0);
}

/* Waiting. */

TEST_TABLE(ApiQueue, AWaitOverridesAPause, devices) {
    scene s;
    set(ctx, *row, &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    polytile_queue_pause(s.queue);
    CHECK_OK(add_one_to(&s, s.a));
    CHECK_OK(polytile_queue_wait(s.queue));
    CHECK_OK(add_one_to(&s, s.a));
    polytile_queue_resume(s.queue);
    CHECK_OK(polytile_queue_wait_for(s.queue, s.a));
    CHECK_EQUAL(report_of(&s).n_launches, 2);
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_NEAR(s.x[9], 11, 0);
}

TEST_CASE(ApiQueue, WaitsOnlyForArraysOfItsOwn) {
    scene s;
    set(ctx, "host", &s);
    CHECK_REFUSED(polytile_queue_wait_for(s.queue, s.a), POLYTILE_INVALID, "x");
    CHECK_STATUS(polytile_queue_wait_for(s.queue, NULL), POLYTILE_INVALID);
    CHECK_REFUSED(polytile_queue_wait_for(NULL, s.a), POLYTILE_INVALID, "queue is NULL");
    CHECK_REFUSED(polytile_queue_wait(NULL), POLYTILE_INVALID, "queue is NULL");
    CHECK_OK(polytile_queue_wait(s.queue));
}

static int fail_with_nine(const polytile_sub_kernel *launch) {
    (void)launch;
    return 9;
}

TEST_CASE(ApiQueue, AFailureIsToldOnceByTheNextWaitAndWhatIsBehindItDoesNotRun) {
    const polytile_implementation failing = {.host_launcher = fail_with_nine};
    polytile_kernel *kernel = NULL;
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_kernel_create(ctx, "fails[i]: inout y[i]", &failing, &kernel));
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    polytile_queue_pause(s.queue);
    CHECK_OK(
        polytile_queue_launch(s.queue, kernel, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(s.b), NULL));
    CHECK_OK(add_one_to(&s, s.b));
    CHECK_REFUSED(polytile_queue_wait(s.queue), POLYTILE_DEVICE, "fails", "9", "y");
    CHECK(polytile_array_is_complete(s.a));
    CHECK(!polytile_array_is_complete(s.b));
    CHECK_OK(polytile_queue_wait(s.queue));
    CHECK_OK(add_one_to(&s, s.a));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_NEAR(s.x[9], 10, 0);
    CHECK_EQUAL(report_of(&s).n_launches, 1);
}

TEST_CASE(ApiQueue, DestroyingRunsWhatIsQueuedAndDetaches) {
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a)));
    polytile_queue_pause(s.queue);
    CHECK_OK(add_one_to(&s, s.a));
    polytile_kernel_destroy(s.add_one);
    polytile_queue_destroy(s.queue);
    CHECK_NEAR(s.x[9], 10, 0);
    CHECK(polytile_array_is_complete(s.a));
    polytile_queue_destroy(NULL);
}

/* What is dead, and what only launches see. */

TEST_TABLE(ApiQueue, AnInternalArrayIsZeroUntilItIsWritten, devices) {
    polytile_array *inner = NULL;
    scene s;
    set(ctx, *row, &s);
    CHECK_OK(
        polytile_queue_create_array(s.queue, "inner", POLYTILE_F64, 1, (int64_t[]){N}, &inner));
    CHECK(polytile_array_get_data(inner) == NULL);
    CHECK_TEXT(polytile_array_get_name(inner), "inner");
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.b)));
    CHECK_OK(add_one_to(&s, inner));
    CHECK_OK(add_one_to(&s, inner));
    CHECK_OK(shift_to(&s, inner, s.b));
    polytile_array_destroy(inner);
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.b)));
    CHECK_NEAR(s.y[5], 4, 0);
    CHECK_NEAR(s.y[0], 0, 0);
}

TEST_CASE(ApiQueue, AnInternalArrayMovesNothingWhileItFits) {
    polytile_array *inner = NULL;
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(
        polytile_queue_create_array(s.queue, "inner", POLYTILE_F64, 1, (int64_t[]){N}, &inner));
    CHECK_OK(add_one_to(&s, inner));
    CHECK_OK(polytile_queue_wait(s.queue));
    CHECK_EQUAL(report_of(&s).h2d_bytes, 0);
    CHECK_EQUAL(report_of(&s).d2h_bytes, 0);
    CHECK_REFUSED(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(inner)), POLYTILE_INVALID,
                  "inner");
}

TEST_CASE(ApiQueue, AnInternalArrayIsRefusedAsAnyOther) {
    polytile_array *inner = NULL;
    scene s;
    set(ctx, "host", &s);
    CHECK_REFUSED(
        polytile_queue_create_array(s.queue, "inner", POLYTILE_F64, 1, (int64_t[]){0}, &inner),
        POLYTILE_INVALID, "inner", "dimension 0");
    CHECK_REFUSED(polytile_queue_create_array(s.queue, "inner", 1000, 1, (int64_t[]){4}, &inner),
                  POLYTILE_INVALID, "inner", "1000");
    CHECK_REFUSED(polytile_queue_create_array(s.queue, "inner", POLYTILE_F64, 2,
                                              (int64_t[]){INT64_C(1) << 40, 1 << 30}, &inner),
                  POLYTILE_OVERFLOW, "inner", "64 bits");
    CHECK_REFUSED(
        polytile_queue_create_array(NULL, "inner", POLYTILE_F64, 1, (int64_t[]){4}, &inner),
        POLYTILE_INVALID, "queue is NULL");
    CHECK(inner == NULL);
}

TEST_CASE(ApiQueue, WhatIsDiscardedIsNotBroughtBackAndIncompleteUntilItIsOverwritten) {
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_OK(shift_to(&s, s.a, s.b));
    CHECK_OK(polytile_queue_discard(s.queue, POLYTILE_ARRAYS(s.b)));
    CHECK_OK(polytile_queue_wait(s.queue));
    CHECK(!polytile_array_is_complete(s.b));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_EQUAL(report_of(&s).d2h_bytes, 0);
}

TEST_CASE(ApiQueue, OnlyArraysOfTheQueueAreDiscarded) {
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_REFUSED(polytile_queue_discard(s.queue, POLYTILE_ARRAYS(s.b)), POLYTILE_INVALID, "y");
    CHECK_REFUSED(polytile_queue_discard(s.queue, POLYTILE_ARRAYS(s.a, s.a)), POLYTILE_INVALID,
                  "x");
    CHECK_STATUS(polytile_queue_discard(s.queue, 0, NULL), POLYTILE_INVALID);
    CHECK_REFUSED(polytile_queue_discard(NULL, POLYTILE_ARRAYS(s.a)), POLYTILE_INVALID,
                  "queue is NULL");
    CHECK_OK(polytile_queue_wait(s.queue));
    CHECK(polytile_array_is_complete(s.a));
}

/* Devices and shares. */

static const struct {
    const char *device;
    polytile_share_options options;
} shares[] = {
    {"host", {0}},
    {"host,host", {0}},
    {"host,host,host", {.layout = "block"}},
    {"host,host", {.layout = "block(dim=0)"}},
    {"host,host", {.layout = "cyclic(64)"}},
    {"host,host", {.layout = "weighted(3,1)"}},
    {"host,host", {.layout = "weighted(1,0)"}},
    {"host,host(memory=64KiB)", {.layout = "weighted"}},
    {"host(memory=4KiB),host(memory=8KiB)", {.layout = "pool"}},
    {"host,host", {.grid = "2", .launches_per_exchange = 1}},
    {"host,host", {.launches_per_exchange = 4}},
};

TEST_TABLE(ApiQueue, DevicesShareInAnyLayoutWithTheSameResults, shares) {
    scene s;
    set(ctx, "host", &s);
    if (!CHECK_OK(polytile_queue_create_shared(ctx, row->device, &row->options, &s.queue)))
        return;
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    for (int k = 0; k < 3; k++) {
        CHECK_OK(shift_to(&s, s.a, s.b));
        CHECK_OK(shift_to(&s, s.b, s.a));
    }
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_NEAR(s.x[500], 64 * 500, 0);
    CHECK_NEAR(s.y[1000], 32 * 1000, 0);
}

TEST_CASE(ApiQueue, NeedsAContextADeviceAndAPlace) {
    polytile_queue *queue = NULL;
    CHECK_STATUS(polytile_queue_create(NULL, "host", &queue), POLYTILE_INVALID);
    CHECK_STATUS(polytile_queue_create(ctx, NULL, &queue), POLYTILE_INVALID);
    CHECK_STATUS(polytile_queue_create(ctx, "host", NULL), POLYTILE_INVALID);
    CHECK_STATUS(polytile_queue_create_shared(ctx, "host", NULL, NULL), POLYTILE_INVALID);
    CHECK(queue == NULL);
}

TEST_CASE(ApiQueue, HasTheFirstOfItsDevices) {
    scene s;
    set(ctx, "host(memory=1MiB),host", &s);
    CHECK_EQUAL(polytile_device_get_limit(polytile_queue_get_device(s.queue)), 1 << 20);
    CHECK(polytile_queue_get_device(NULL) == NULL);
}

/* Reports. */

TEST_CASE(ApiQueue, AReportWaitsAndMayBeginAnew) {
    polytile_report report;
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a)));
    polytile_queue_pause(s.queue);
    CHECK_OK(add_one_to(&s, s.a));
    polytile_queue_get_report(s.queue, true, &report);
    CHECK_EQUAL(report.n_launches, 1);
    CHECK_EQUAL(report.h2d_bytes, N * sizeof(double));
    polytile_queue_get_report(s.queue, false, &report);
    CHECK_EQUAL(report.n_launches, 0);
    CHECK_EQUAL(report.h2d_bytes, 0);
}

TEST_CASE(ApiQueue, AReportLeavesErrorsToTheWait) {
    const polytile_implementation failing = {.host_launcher = fail_with_nine};
    polytile_kernel *kernel = NULL;
    scene s;
    set(ctx, "host(memory=1MiB)", &s);
    CHECK_OK(polytile_kernel_create(ctx, "fails[i]: inout x[i]", &failing, &kernel));
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a)));
    CHECK_OK(
        polytile_queue_launch(s.queue, kernel, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(s.a), NULL));
    CHECK_EQUAL(report_of(&s).n_launches, 0);
    CHECK_REFUSED(polytile_queue_wait(s.queue), POLYTILE_DEVICE, "fails", "9");
}

TEST_CASE(ApiQueue, OfNullReportsNothingAndPausesNothing) {
    polytile_report report = {.n_launches = 7, .run_s = 7};
    polytile_queue_get_report(NULL, true, &report);
    CHECK_EQUAL(report.n_launches, 0);
    CHECK_NEAR(report.run_s, 0, 0);
    polytile_queue_get_report(NULL, true, NULL);
    polytile_queue_pause(NULL);
    polytile_queue_resume(NULL);
}

/* Not blocking. */

static void note_status(polytile_status status, void *user) {
    *(polytile_status *)user = status;
}

TEST_TABLE(ApiQueue, TellsWhenAnArrayIsDone, devices) {
    scene s;
    polytile_status told = POLYTILE_INTERNAL;
    set(ctx, *row, &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_OK(add_one_to(&s, s.a));
    CHECK_OK(polytile_queue_notify(s.queue, s.a, note_status, &told));
    while (!polytile_queue_test(s.queue, s.a))
        sched_yield();
    CHECK_EQUAL(told, POLYTILE_OK);
    CHECK_NEAR(s.x[7], 8, 0);
    CHECK(polytile_queue_test(s.queue, NULL));
    CHECK_NEAR(polytile_queue_get_progress(s.queue).fraction, 1, 0);
    CHECK_RESERVED(polytile_queue_get_progress(s.queue));
    CHECK_REFUSED(polytile_queue_notify(s.queue, s.a, NULL, NULL), POLYTILE_INVALID, "x", "NULL");
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_REFUSED(polytile_queue_notify(s.queue, s.a, note_status, &told), POLYTILE_INVALID, "x",
                  "attach");
}

TEST_TABLE(ApiQueue, CancelsWhatIsQueuedAndGoesOn, devices) {
    scene s;
    set(ctx, *row, &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    polytile_queue_pause(s.queue);
    CHECK_OK(add_one_to(&s, s.a));
    CHECK(polytile_queue_get_progress(s.queue).fraction < 1);
    polytile_queue_cancel(s.queue);
    CHECK_REFUSED(polytile_queue_wait(s.queue), POLYTILE_CANCELLED, "cancelled");
    CHECK(polytile_array_get_state(s.a) != POLYTILE_ARRAY_COMPLETE);
    CHECK_EQUAL(polytile_array_get_state(s.b), POLYTILE_ARRAY_COMPLETE);
    CHECK_OK(shift_to(&s, s.b, s.a));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_NEAR(s.x[500], 0, 0);
}

POLYTILE_KERNEL(halve, (i), (double, x, 1)) {
    PT_AT(x, i) /= 2;
}

POLYTILE_KERNEL(add_up, (i), (const double, x, 1), (double, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
}

/* Looks at a sum that is read back while the next steps are queued. */
typedef struct watch {
    const double *sum;
    double least;
    atomic_bool has_converged;
    polytile_queue *queue;
} watch;

static void look(polytile_status status, void *user) {
    watch *w = user;
    if (status == POLYTILE_OK && *w->sum < w->least) {
        atomic_store(&w->has_converged, true);
        polytile_queue_cancel(w->queue);
    }
}

TEST_TABLE(ApiQueue, ALoopEndsAtTheStepThatConverged, devices) {
    scene s;
    polytile_kernel *halve_x = NULL, *add_up_x = NULL;
    double sums[2] = {0, 0};
    polytile_array *sum[2] = {NULL, NULL};
    watch w[2];
    int n_rounds = 0;
    set(ctx, *row, &s);
    for (int k = 0; k < N; k++)
        s.x[k] = 1 << 20;
    CHECK_OK(polytile_kernel_create(ctx, "halve[i]: inout x[i]", &halve_kernel, &halve_x));
    CHECK_OK(
        polytile_kernel_create(ctx, "add_up[i]: in x[i]; out sum s[0]", &add_up_kernel, &add_up_x));
    for (int k = 0; k < 2; k++) {
        w[k] = (watch){.sum = &sums[k], .least = 100.0 * N, .queue = s.queue};
        CHECK_OK(polytile_array_wrap(ctx, "s", POLYTILE_F64, 1, (int64_t[]){1}, &sums[k], &sum[k]));
    }
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, sum[0], sum[1])));
    for (int turn = 0; !atomic_load(&w[0].has_converged) && !atomic_load(&w[1].has_converged);
         turn = 1 - turn) {
        for (int step = 0; step < 3; step++)
            CHECK_OK(polytile_queue_launch(s.queue, halve_x, POLYTILE_EXTENTS(N),
                                           POLYTILE_ARRAYS(s.a), NULL));
        CHECK_OK(polytile_queue_launch(s.queue, add_up_x, POLYTILE_EXTENTS(N),
                                       POLYTILE_ARRAYS(s.a, sum[turn]), NULL));
        CHECK_OK(polytile_queue_notify(s.queue, sum[turn], look, &w[turn]));
        if (polytile_queue_wait_for(s.queue, sum[1 - turn]) != POLYTILE_OK || ++n_rounds > 20)
            break;
    }
    const polytile_status status = polytile_queue_wait(s.queue);
    CHECK(status == POLYTILE_OK || status == POLYTILE_CANCELLED);
    CHECK(polytile_array_is_complete(s.a));
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, sum[0], sum[1])));
    CHECK_NEAR(s.x[0], 32, 0);
    CHECK_NEAR(s.x[N - 1], 32, 0);
    polytile_array_destroy(sum[0]);
    polytile_array_destroy(sum[1]);
}
