#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <string.h>

/* Values of parameters, from the launch to the body. */

enum { N = 4096, STEPS = 12 };

POLYTILE_KERNEL(saxpy, (i), (float, a), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i);
}

POLYTILE_KERNEL(relax, (i), (const double, from, 1), (double, weight), (double, to, 1),
                (int64_t, n)) {
    PT_AT(to, i) = PT_AT(from, i) + weight * (PT_AT(from, i - 1) + PT_AT(from, i + 1)) +
                   (double)(n - PT_EXTENT(to, 0) + PT_ARRAY_FIRST(from, 0));
}

static const char *const devices[] = {"host", "host(memory=8KiB)", "host(memory=1MiB)", "host,host",
                                      "host(memory=8KiB),host(memory=1MiB,threads=2)"};

typedef struct scene {
    polytile_queue *queue;
    polytile_kernel *saxpy;
    float x[N], y[N];
    polytile_array *a, *b;
} scene;

static void set(polytile_context *ctx, const char *device_text, scene *s) {
    for (int k = 0; k < N; k++) {
        s->x[k] = (float)(k % 7);
        s->y[k] = 0;
    }
    CHECK_OK(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){N}, s->x, &s->a));
    CHECK_OK(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, (int64_t[]){N}, s->y, &s->b));
    CHECK_OK(polytile_kernel_create(ctx, "saxpy[i](f32 a): in x[i]; inout y[i]", &saxpy_kernel,
                                    &s->saxpy));
    if (device_text != NULL)
        CHECK_OK(polytile_queue_create(ctx, device_text, &s->queue));
}

static polytile_status launch(scene *s, int n_parameters, const polytile_parameter *parameters) {
    return polytile_queue_launch(
        s->queue, s->saxpy, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(s->a, s->b),
        &(polytile_launch_options){.n_parameters = n_parameters, .parameters = parameters});
}

static void check_sum(const scene *s, float of_values) {
    int n_wrong = 0;
    for (int k = 0; k < N; k++)
        n_wrong += s->y[k] != of_values * (float)(k % 7);
    CHECK_EQUAL(n_wrong, 0);
}

TEST_TABLE(ApiParameters, EachQueuedLaunchHasItsOwnValues, devices) {
    scene s;
    set(ctx, *row, &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    polytile_queue_pause(s.queue);
    for (int k = 1; k <= 4; k++) {
        polytile_parameter a = POLYTILE_PARAMETER("a", (float)k);
        CHECK_OK(launch(&s, 1, &a));
        a.real = 1000;
    }
    polytile_queue_resume(s.queue);
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    check_sum(&s, 1 + 2 + 3 + 4);
}

TEST_TABLE(ApiParameters, OnesThatAreMissingOrTooManyAreRefusedByName, devices) {
    const polytile_parameter values[] = {POLYTILE_PARAMETER("a", 2), POLYTILE_PARAMETER("b", 2)};
    scene s;
    set(ctx, *row, &s);
    CHECK_OK(polytile_queue_attach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    CHECK_REFUSED(launch(&s, 0, NULL), POLYTILE_DECLARATION, "saxpy", "a");
    CHECK_REFUSED(launch(&s, 2, values), POLYTILE_INVALID, "saxpy", "b");
    CHECK_OK(launch(&s, 1, values));
    CHECK_REFUSED(launch(&s, 0, NULL), POLYTILE_DECLARATION, "saxpy", "a");
    CHECK_OK(polytile_queue_detach(s.queue, POLYTILE_ARRAYS(s.a, s.b)));
    check_sum(&s, 2);
}

static void relax_plainly(double *field, double *other) {
    for (int step = 0; step < STEPS; step++) {
        for (int k = 1; k < N - 1; k++)
            other[k] = field[k] + (step + 1) * 0.0625 * (field[k - 1] + field[k + 1]);
        memcpy(field + 1, other + 1, (N - 2) * sizeof *field);
    }
}

static void relax_queued(polytile_context *ctx, polytile_queue *queue,
                         polytile_array *const *fields) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, "relax[i](f64 weight, i64 n): in from[i-1:i+1]; out to[i]",
                                    &relax_kernel, &kernel));
    polytile_queue_pause(queue);
    for (int step = 0; step < STEPS; step++) {
        const polytile_parameter values[] = {POLYTILE_PARAMETER("n", N),
                                             POLYTILE_PARAMETER("weight", (step + 1) * 0.0625)};
        CHECK_OK(polytile_queue_launch(
            queue, kernel, POLYTILE_INTERIOR(1, N),
            POLYTILE_ARRAYS(fields[step % 2], fields[(step + 1) % 2]),
            &(polytile_launch_options){.n_parameters = 2, .parameters = values}));
    }
    polytile_queue_resume(queue);
}

TEST_TABLE(ApiParameters, TimeStepsThatDifferInAValueGiveWhatPlainLoopsGive, devices) {
    static double field[N], other[N], expected[N], spare[N];
    polytile_queue *queue = NULL;
    polytile_array *fields[2] = {NULL, NULL};
    for (int k = 0; k < N; k++)
        field[k] = other[k] = expected[k] = spare[k] = k % 11;
    CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_F64, 1, (int64_t[]){N}, field, &fields[0]));
    CHECK_OK(polytile_array_wrap(ctx, "B", POLYTILE_F64, 1, (int64_t[]){N}, other, &fields[1]));
    CHECK_OK(polytile_queue_create(ctx, *row, &queue));
    CHECK_OK(polytile_queue_attach(queue, 2, fields));
    relax_queued(ctx, queue, fields);
    CHECK_OK(polytile_queue_detach(queue, 2, fields));
    relax_plainly(expected, spare);
    CHECK_EQUAL(memcmp(field, expected, sizeof field), 0);
}

/* Launches that differ in values alone share their plan and their time steps. */
TEST_CASE(ApiParameters, LaunchesThatDifferInValuesAreFused) {
    static double field[N], other[N];
    polytile_queue *queue = NULL;
    polytile_array *fields[2] = {NULL, NULL};
    polytile_report report;
    CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_F64, 1, (int64_t[]){N}, field, &fields[0]));
    CHECK_OK(polytile_array_wrap(ctx, "B", POLYTILE_F64, 1, (int64_t[]){N}, other, &fields[1]));
    CHECK_OK(polytile_queue_create(ctx, "host(memory=32KiB)", &queue));
    CHECK_OK(polytile_queue_attach(queue, 2, fields));
    relax_queued(ctx, queue, fields);
    CHECK_OK(polytile_queue_wait(queue));
    polytile_queue_get_report(queue, false, &report);
    CHECK(report.h2d_bytes < (int64_t)STEPS * (int64_t)sizeof field / 2);
}

TEST_CASE(ApiParameters, APlanRunsWithTheValuesOfEachRun) {
    const polytile_parameter two = POLYTILE_PARAMETER("a", 2), three = POLYTILE_PARAMETER("a", 3);
    polytile_device *device = NULL;
    polytile_plan *plan = NULL;
    scene s;
    set(ctx, NULL, &s);
    CHECK_OK(polytile_device_open(ctx, "host(memory=8KiB)", &device));
    CHECK_OK(polytile_plan_create(s.saxpy, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(s.a, s.b),
                                  &(polytile_launch_options){.plan = {.limit_bytes = 8192}},
                                  &plan));
    const polytile_launch_options with_two = {.n_parameters = 1, .parameters = &two};
    const polytile_launch_options with_three = {.n_parameters = 1, .parameters = &three};
    CHECK_OK(polytile_plan_run(plan, device, s.saxpy, POLYTILE_ARRAYS(s.a, s.b), &with_two));
    CHECK_OK(polytile_plan_run(plan, device, s.saxpy, POLYTILE_ARRAYS(s.a, s.b), &with_three));
    CHECK_REFUSED(polytile_plan_run(plan, device, s.saxpy, POLYTILE_ARRAYS(s.a, s.b), NULL),
                  POLYTILE_DECLARATION, "saxpy", "a");
    CHECK_OK(polytile_check_run(device, s.saxpy, POLYTILE_EXTENTS(N), POLYTILE_ARRAYS(s.a, s.b),
                                &with_three, NULL));
    check_sum(&s, 5);
}

TEST_CASE(ApiParameters, AreTakenWithTheDeclaredTypeAlone) {
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(
        polytile_kernel_create(ctx, "saxpy[i](f64 a): in x[i]; inout y[i]", &saxpy_kernel, &kernel),
        POLYTILE_DECLARATION, "saxpy", "a", "f64");
    CHECK_REFUSED(
        polytile_kernel_create(ctx, "saxpy[i](f32 b): in x[i]; inout y[i]", &saxpy_kernel, &kernel),
        POLYTILE_DECLARATION, "saxpy", "a");
}
