/* Bodies of this file tell of the elements that they reach for. */
#define POLYTILE_RECORD_ACCESS
#include <polytile/check.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdlib.h>
#include <string.h>

enum { N = 16 };

typedef struct scene {
    double x[N], y[N];
    polytile_array *arrays[2];
    polytile_device *device;
    polytile_kernel *kernel;
} scene;

static void set(polytile_context *ctx, const char *device_text, const char *declaration,
                const polytile_implementation *body, scene *s) {
    for (int k = 0; k < N; k++) {
        s->x[k] = k;
        s->y[k] = -k;
    }
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F64, 1, (int64_t[]){N}, s->x, &s->arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F64, 1, (int64_t[]){N}, s->y, &s->arrays[1]));
    CHECK_OK(polytile_device_open(ctx, device_text, &s->device));
    CHECK_OK(polytile_kernel_create(ctx, declaration, body, &s->kernel));
}

static bool is_as_it_was(const scene *s) {
    for (int k = 0; k < N; k++)
        if (s->x[k] != k || s->y[k] != -k)
            return false;
    return true;
}

POLYTILE_KERNEL(mean, (i), (const double, x, 1), (double, y, 1)) {
    PT_AT(y, i) = (PT_AT(x, i - 1) + PT_AT(x, i + 1)) / 2;
}

POLYTILE_KERNEL(spill, (i), (const double, x, 1), (double, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i);
    PT_AT(y, i + 1) = 7;
}

POLYTILE_KERNEL(leave, (i), (const double, x, 1), (double, y, 1)) {
    if (i != 5)
        PT_AT(y, i) = PT_AT(x, i);
}

static const struct {
    const char *declaration;
    const polytile_implementation *body;
    polytile_violation violation;
    int array;
    int64_t away; /* of the element from the thread */
    const char *says;
} violations[] = {
    {"mean[i]: in x[i-1:i+1]; out y[i]", &mean_kernel, POLYTILE_NO_VIOLATION, 0, 0, ""},
    {"mean[i]: in x[i-1], x[i+1]; out y[i]", &mean_kernel, POLYTILE_NO_VIOLATION, 0, 0, ""},
    {"mean[i]: in x[i-1:i]; out y[i]", &mean_kernel, POLYTILE_READS_UNDECLARED, 0, 1, "reads x["},
    {"mean[i]: in x[i:i+1]; out y[i]", &mean_kernel, POLYTILE_READS_UNDECLARED, 0, -1, "reads x["},
    {"spill[i]: in x[i]; out y[i]", &spill_kernel, POLYTILE_WRITES_UNDECLARED, 1, 1, "writes y["},
    {"leave[i]: in x[i]; out y[i]", &leave_kernel, POLYTILE_LEAVES_UNWRITTEN, 1, 0, "y[5]"},
};

TEST_TABLE(ApiCheck, FindsWhatADeclarationDoesNotSay, violations) {
    static const char *const devices[] = {"host", "host(memory=1MiB)"};
    for (int k = 0; k < 2; k++) {
        polytile_check_report report;
        scene s;
        SPOIL(report);
        set(ctx, devices[k], row->declaration, row->body, &s);
        const polytile_status status = polytile_check_run(
            s.device, s.kernel, POLYTILE_INTERIOR(1, N), 2, s.arrays, NULL, &report);
        CHECK(is_as_it_was(&s));
        CHECK_EQUAL(report.violation, row->violation);
        CHECK_RESERVED(report);
        CHECK(report.n_boxes > 0 && report.n_runs > report.n_boxes);
        if (row->violation == POLYTILE_NO_VIOLATION) {
            CHECK_OK(status);
            CHECK_EQUAL(report.n_alone, N - 2);
            continue;
        }
        CHECK_REFUSED(status, POLYTILE_INVALID, "its declaration is wrong: thread [", row->says);
        CHECK_EQUAL(report.array, row->array);
        CHECK_EQUAL(report.threads.range[0].lo, report.threads.range[0].hi);
        CHECK_EQUAL(report.element[0], report.threads.range[0].lo + row->away);
        CHECK_EQUAL(report.shown_array, row->violation == POLYTILE_READS_UNDECLARED ? 1 : -1);
        if (report.shown_array == 1)
            CHECK_EQUAL(report.shown[0], report.threads.range[0].lo);
    }
}

TEST_CASE(ApiCheck, MayHaveNoPlaceForItsReport) {
    scene s;
    set(ctx, "host", "mean[i]: in x[i]; out y[i]", &mean_kernel, &s);
    CHECK_REFUSED(
        polytile_check_run(s.device, s.kernel, POLYTILE_INTERIOR(1, N), 2, s.arrays, NULL, NULL),
        POLYTILE_INVALID, "mean", "x[");
}

TEST_CASE(ApiCheck, WhatCannotBeRunIsNotChecked) {
    polytile_check_report report;
    scene s;
    set(ctx, "host", "mean[i]: in x[i-1:i+1]; out y[i]", NULL, &s);
    CHECK_REFUSED(
        polytile_check_run(s.device, s.kernel, POLYTILE_INTERIOR(1, N), 2, s.arrays, NULL, &report),
        POLYTILE_UNSUPPORTED, "mean", "host");
    set(ctx, "host", "mean[i]: in x[i-1:i+1]; out y[i]", &mean_kernel, &s);
    CHECK_REFUSED(
        polytile_check_run(s.device, s.kernel, POLYTILE_EXTENTS(N + 2), 2, s.arrays, NULL, &report),
        POLYTILE_DECLARATION, "mean");
    CHECK_REFUSED(
        polytile_check_run(NULL, s.kernel, POLYTILE_EXTENTS(N), 2, s.arrays, NULL, &report),
        POLYTILE_INVALID, "device is NULL");
}

static int counter;

POLYTILE_KERNEL(count, (i), (const double, x, 1), (double, y, 1)) {
    PT_AT(y, i) = ++counter;
}

TEST_CASE(ApiCheck, OfAKernelWhoseResultsDifferTellsNothing) {
    scene s;
    set(ctx, "host", "count[i]: in x[i]; out y[i]", &count_kernel, &s);
    CHECK_REFUSED(
        polytile_check_run(s.device, s.kernel, POLYTILE_EXTENTS(N), 2, s.arrays, NULL, NULL),
        POLYTILE_UNSUPPORTED, "count");
}

/* Threads of a block share what they read; a check looks at whole blocks where it is told so. */
static void share(const polytile_domain *threads, const polytile_view *views, void *user) {
    PT_VIEW(const double, x, 1, views[0]);
    PT_VIEW(double, y, 1, views[1]);
    (void)user;
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        PT_AT(y, i) = PT_AT(x, i / 4 * 4);
}

TEST_CASE(ApiCheck, LooksAtBlocksThatBelongTogether) {
    const polytile_implementation body = {.host = share};
    const int64_t block[] = {4};
    polytile_check_report report;
    scene s;
    set(ctx, "host", "share[i]: in x[i]; out y[i]", &body, &s);
    CHECK_OK(polytile_check_run(s.device, s.kernel, POLYTILE_EXTENTS(N), 2, s.arrays,
                                &(polytile_launch_options){.plan.block = block}, &report));
    CHECK_STATUS(
        polytile_check_run(s.device, s.kernel, POLYTILE_EXTENTS(N), 2, s.arrays, NULL, NULL),
        POLYTILE_INVALID);
}

TEST_CASE(ApiCheck, UseOfABodyThatTellsIsExact) {
    polytile_use uses[2];
    scene s;
    SPOIL(uses);
    set(ctx, "host", "mean[i]: in x[i-2:i+2]; out y[i]", &mean_kernel, &s);
    CHECK_OK(
        polytile_check_use(s.device, s.kernel, POLYTILE_INTERIOR(2, N), 2, s.arrays, NULL, uses));
    CHECK_RESERVED(uses[0]);
    CHECK_RESERVED(uses[1]);
    CHECK(uses[0].is_recorded);
    CHECK(!uses[0].depends_on_data);
    CHECK_EQUAL(uses[0].n_tried, uses[0].n_declared);
    CHECK(uses[0].n_declared >= N);
    CHECK(uses[0].n_read < uses[0].n_declared);
    CHECK_EQUAL(uses[0].n_never, 2);
    CHECK_EQUAL(uses[1].n_declared, 0);
    CHECK(is_as_it_was(&s));
}

static void copy(const polytile_domain *threads, const polytile_view *views, void *user) {
    (void)user;
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        memcpy((char *)views[1].origin + i * views[1].stride_bytes[0],
               (const char *)views[0].origin + i * views[0].stride_bytes[0], sizeof(double));
}

TEST_CASE(ApiCheck, UseOfAFunctionThatDoesNotTellIsTriedOut) {
    const polytile_implementation body = {.host = copy};
    polytile_use uses[2];
    scene s;
    set(ctx, "host", "copy[i]: in x[i:i+1]; out y[i]", &body, &s);
    CHECK_OK(
        polytile_check_use(s.device, s.kernel, POLYTILE_EXTENTS(N - 1), 2, s.arrays, NULL, uses));
    CHECK(!uses[0].is_recorded);
    CHECK(uses[0].n_read > 0 && uses[0].n_read < uses[0].n_tried);
    CHECK(uses[0].n_tried <= uses[0].n_declared);
    CHECK_EQUAL(uses[0].n_never, -1);
}

TEST_CASE(ApiCheck, OfUseGoesFirst) {
    polytile_use uses[2];
    scene s;
    set(ctx, "host", "mean[i]: in x[i]; out y[i]", &mean_kernel, &s);
    CHECK_REFUSED(
        polytile_check_use(s.device, s.kernel, POLYTILE_INTERIOR(1, N), 2, s.arrays, NULL, uses),
        POLYTILE_INVALID, "mean", "x[");
}

POLYTILE_KERNEL(gather, (i), (const double, x, 1), (const int64_t, at, 1), (double, y, 1)) {
    PT_AT(y, i) = PT_AT(x, PT_AT(at, i));
}

TEST_CASE(ApiCheck, UseThatDependsOnDataIsSaidToDoSo) {
    int64_t at[N];
    double x[N], y[N];
    polytile_array *arrays[3] = {NULL};
    polytile_device *device = NULL;
    polytile_kernel *kernel = NULL;
    polytile_use uses[3];
    for (int k = 0; k < N; k++) {
        x[k] = k + 0.5;
        at[k] = (5 * k) % N;
    }
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F64, 1, (int64_t[]){N}, x, &arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "at", POLYTILE_I64, 1, (int64_t[]){N}, at, &arrays[1]));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F64, 1, (int64_t[]){N}, y, &arrays[2]));
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    CHECK_OK(polytile_kernel_create(ctx, "gather[i]: in x[:], at[i]; out y[i]", &gather_kernel,
                                    &kernel));
    CHECK_OK(polytile_check_use(device, kernel, POLYTILE_EXTENTS(N), 3, arrays, NULL, uses));
    CHECK(uses[0].depends_on_data);
    CHECK(!uses[1].depends_on_data);
    CHECK_EQUAL(uses[1].n_read, N);
}

/* Parameters: what a kernel touches may depend on their values. */

POLYTILE_KERNEL(reach, (i), (const double, x, 1), (int8_t, far), (double, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i) + (far > 0 ? PT_AT(x, i + far) : 0);
}

static const char *const reach_text = "reach[i](i8 far): in x[i:i+1]; out y[i]";

static polytile_status check_reach(scene *s, int far, polytile_check_report *report) {
    const polytile_parameter value = POLYTILE_PARAMETER("far", far);
    return polytile_check_run(s->device, s->kernel, POLYTILE_EXTENTS(N - 2), 2, s->arrays,
                              &(polytile_launch_options){.n_parameters = 1, .parameters = &value},
                              report);
}

TEST_CASE(ApiCheck, RunsWithTheValuesOfItsLaunch) {
    polytile_check_report report;
    scene s;
    set(ctx, "host", reach_text, &reach_kernel, &s);
    CHECK_OK(check_reach(&s, 0, &report));
    CHECK_OK(check_reach(&s, 1, &report));
    CHECK_REFUSED(check_reach(&s, 2, &report), POLYTILE_INVALID, "reach", "x[");
    CHECK_EQUAL(report.violation, POLYTILE_READS_UNDECLARED);
    CHECK_EQUAL(report.element[0], report.threads.range[0].lo + 2);
    CHECK(is_as_it_was(&s));
    CHECK_REFUSED(
        polytile_check_run(s.device, s.kernel, POLYTILE_EXTENTS(N - 2), 2, s.arrays, NULL, &report),
        POLYTILE_DECLARATION, "reach", "far");
}

TEST_CASE(ApiCheck, UseIsThatOfTheValuesOfItsLaunch) {
    for (int far = 0; far <= 1; far++) {
        const polytile_parameter value = POLYTILE_PARAMETER("far", far);
        polytile_use uses[2];
        scene s;
        set(ctx, "host", reach_text, &reach_kernel, &s);
        CHECK_OK(polytile_check_use(
            s.device, s.kernel, POLYTILE_EXTENTS(N - 2), 2, s.arrays,
            &(polytile_launch_options){.n_parameters = 1, .parameters = &value}, uses));
        CHECK(uses[0].is_recorded);
        CHECK(!uses[0].depends_on_data);
        CHECK(far == 1 ? uses[0].n_read == uses[0].n_declared
                       : uses[0].n_read < uses[0].n_declared);
        CHECK_EQUAL(uses[0].n_never, 1 - far);
    }
}

POLYTILE_KERNEL(shift, (i), (const double, x, 1), (int64_t, by), (double, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i + by);
}

/* A value of a subscript, which the body takes, too. */
TEST_CASE(ApiCheck, UseFollowsSubscriptsThatAParameterMoves) {
    for (int by = 0; by <= 3; by++) {
        const polytile_parameter value = POLYTILE_PARAMETER("by", by);
        polytile_use uses[2];
        scene s;
        set(ctx, "host", "shift[i]: in x[i+by]; out y[i]", &shift_kernel, &s);
        CHECK_OK(polytile_check_use(
            s.device, s.kernel, POLYTILE_EXTENTS(N - 3), 2, s.arrays,
            &(polytile_launch_options){.n_parameters = 1, .parameters = &value}, uses));
        CHECK_EQUAL(uses[0].n_read, uses[0].n_declared);
        CHECK_EQUAL(uses[0].n_never, 0);
    }
}

static const struct {
    const char *device;
    bool is_queued;
} checked_places[] = {{"host", false},
                      {"host(memory=1KiB)", false},
                      {"host", true},
                      {"host(memory=1KiB)", true},
                      {"host,host(memory=4KiB)", true}};

static polytile_status run_reach(polytile_context *ctx, scene *s, const char *device_text,
                                 bool is_queued, int far) {
    const polytile_parameter value = POLYTILE_PARAMETER("far", far);
    const polytile_launch_options options = {.n_parameters = 1, .parameters = &value};
    polytile_queue *queue = NULL;
    if (!is_queued)
        return polytile_run(s->device, s->kernel, POLYTILE_EXTENTS(N - 2), 2, s->arrays, &options);
    CHECK_OK(polytile_queue_create(ctx, device_text, &queue));
    CHECK_OK(polytile_queue_attach(queue, 2, s->arrays));
    const polytile_status launched =
        polytile_queue_launch(queue, s->kernel, POLYTILE_EXTENTS(N - 2), 2, s->arrays, &options);
    const polytile_status status = launched == POLYTILE_OK ? polytile_queue_wait(queue) : launched;
    CHECK_STATUS(status, far < 2 ? POLYTILE_OK : POLYTILE_INVALID);
    if (status == POLYTILE_OK)
        CHECK_OK(polytile_queue_detach(queue, 2, s->arrays));
    return status;
}

static void run_checked(polytile_context *ctx, const char *device_text, bool is_queued) {
    scene s;
    set(ctx, is_queued ? "host" : device_text, reach_text, &reach_kernel, &s);
    CHECK_OK(run_reach(ctx, &s, device_text, is_queued, 1));
    for (int k = 0; k < N - 2; k++)
        CHECK_NEAR(s.y[k], 2 * k + 1, 0);
    set(ctx, is_queued ? "host" : device_text, reach_text, &reach_kernel, &s);
    CHECK_REFUSED(run_reach(ctx, &s, device_text, is_queued, 2), POLYTILE_INVALID, "reach",
                  "its declaration is wrong");
}

/* Of programs that know nothing of it; contexts read the environment when they are made. */
TEST_TABLE(ApiCheck, OfTheEnvironmentRunsWithTheValuesOfEachLaunch, checked_places) {
    polytile_context *checking = NULL;
    const char *set_before = getenv("POLYTILE_CHECK");
    char *before = set_before == NULL ? NULL : strdup(set_before);
    setenv("POLYTILE_CHECK", "access", 1);
    CHECK_OK(polytile_context_create(&checking));
    run_checked(checking, row->device, row->is_queued);
    polytile_context_destroy(checking);
    if (before == NULL)
        unsetenv("POLYTILE_CHECK");
    else
        setenv("POLYTILE_CHECK", before, 1);
    free(before);
}
