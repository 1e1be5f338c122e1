#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdlib.h>
#include <string.h>

/* Scratch: memory of each thread's own, in every way of running a launch. */

enum { ROWS = 40, LENGTH = 24 };

static const char declaration[] =
    "turn[s]: in A[s, :]; scratch i32 w[s, 0:n-1], i64 sum[s]; out B[s, :]";

/** Turns a row round, and adds the sum of all before: w is written before it is read. */
POLYTILE_KERNEL(turn, (s), (const int32_t, A, 2), (int32_t, w, 2), (int64_t, sum, 1),
                (int32_t, B, 2)) {
    PT_AT(sum, s) = 0;
    for (int64_t k = 0; k < LENGTH; k++) {
        PT_AT(w, s, k) = PT_AT(A, s, LENGTH - 1 - k);
        PT_AT(sum, s) += PT_AT(A, s, k);
    }
    for (int64_t k = 0; k < LENGTH; k++)
        PT_AT(B, s, k) = PT_AT(w, s, k) + (int32_t)PT_AT(sum, s);
}

/** Reads what it did not write. */
POLYTILE_KERNEL(guess, (s), (const int32_t, A, 2), (int32_t, w, 2), (int64_t, sum, 1),
                (int32_t, B, 2)) {
    PT_AT(sum, s) = 0;
    for (int64_t k = 0; k < LENGTH; k++)
        PT_AT(B, s, k) = PT_AT(A, s, k) + (k == 7 ? PT_AT(w, s, k) : 0);
}

typedef struct rows {
    int32_t a[ROWS][LENGTH], b[ROWS][LENGTH];
    polytile_array *array[2];
} rows;

static void wrap_rows(polytile_context *ctx, rows *of) {
    memset(of->b, 0, sizeof of->b);
    for (int s = 0; s < ROWS; s++)
        for (int k = 0; k < LENGTH; k++)
            of->a[s][k] = 1000 * s + k * k;
    CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_I32, 2, (int64_t[]){ROWS, LENGTH}, of->a,
                                 &of->array[0]));
    CHECK_OK(polytile_array_wrap(ctx, "B", POLYTILE_I32, 2, (int64_t[]){ROWS, LENGTH}, of->b,
                                 &of->array[1]));
}

static bool are_turned(const rows *of) {
    bool are = true;
    for (int s = 0; s < ROWS; s++) {
        int32_t sum = 0;
        for (int k = 0; k < LENGTH; k++)
            sum += of->a[s][k];
        for (int k = 0; k < LENGTH; k++)
            are &= of->b[s][k] == of->a[s][LENGTH - 1 - k] + sum;
    }
    return are;
}

static const polytile_launch_options with_length = {
    .n_parameters = 1, .parameters = &(polytile_parameter){.name = "n", .value = LENGTH}};

static polytile_kernel *create_kernel(polytile_context *ctx, const polytile_implementation *body) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, declaration, body, &kernel));
    return kernel;
}

static const char *const devices[] = {"host",
                                      "host(threads=1)",
                                      "host(threads=3)",
                                      "host(memory=2KiB)",
                                      "host(memory=64KiB)",
                                      "host(memory=3KiB,threads=2)"};

TEST_TABLE(ApiScratch, NothingIsPassedForIt, devices) {
    rows of;
    polytile_device *device = NULL;
    wrap_rows(ctx, &of);
    const polytile_kernel *kernel = create_kernel(ctx, &turn_kernel);
    CHECK_EQUAL(polytile_kernel_get_n_arrays(kernel), 2);
    CHECK_TEXT(polytile_kernel_get_array_name(kernel, 0), "A");
    CHECK_TEXT(polytile_kernel_get_array_name(kernel, 1), "B");
    CHECK(polytile_kernel_get_array_name(kernel, 2) == NULL);
    CHECK_EQUAL(polytile_kernel_get_n_views(kernel), 4);
    CHECK_TEXT(polytile_kernel_get_view_name(kernel, 2), "sum");
    CHECK(polytile_kernel_get_view_name(kernel, 4) == NULL);
    CHECK_OK(polytile_device_open(ctx, *row, &device));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &with_length));
    CHECK(are_turned(&of));
}

TEST_TABLE(ApiScratch, NeverMovesAndCountsInTheLimit, devices) {
    rows of;
    polytile_device *device = NULL;
    polytile_report report;
    wrap_rows(ctx, &of);
    const polytile_kernel *kernel = create_kernel(ctx, &turn_kernel);
    CHECK_OK(polytile_device_open(ctx, *row, &device));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &with_length));
    polytile_device_get_report(device, &report);
    if (strstr(*row, "memory") == NULL)
        return;
    CHECK_EQUAL(report.h2d_bytes, sizeof of.a);
    CHECK_EQUAL(report.d2h_bytes, sizeof of.b);
    const int64_t row_bytes = 3 * LENGTH * 4 + 8;
    CHECK(report.peak_device_bytes >= row_bytes);
    CHECK(report.n_kernels * report.peak_device_bytes >= ROWS * row_bytes / 2);
}

static const char *const queues[] = {"host",
                                     "host(memory=64KiB)",
                                     "host(memory=3KiB)",
                                     "host,host",
                                     "host(memory=4KiB),host(memory=3KiB)",
                                     "host(memory=4KiB),host"};

TEST_TABLE(ApiScratch, LaunchesOfQueuesHaveIt, queues) {
    rows of;
    polytile_queue *queue = NULL;
    wrap_rows(ctx, &of);
    const polytile_kernel *kernel = create_kernel(ctx, &turn_kernel);
    CHECK_OK(polytile_queue_create(ctx, *row, &queue));
    CHECK_OK(polytile_queue_attach(queue, 2, of.array));
    for (int k = 0; k < 5; k++)
        CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(ROWS), 2, of.array,
                                       &with_length));
    CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(ROWS), POLYTILE_BY_NAME,
                                   &with_length));
    CHECK_OK(polytile_queue_detach(queue, 2, of.array));
    CHECK(are_turned(&of));
    polytile_queue_destroy(queue);
}

POLYTILE_KERNEL(corner, (s), (int32_t, B, 2), (int32_t, w, 2)) {
    for (int64_t k = 0; k <= s; k++)
        PT_AT(w, s, k) = (int32_t)(s + k);
    int32_t sum = 0;
    for (int64_t k = 0; k <= s; k++)
        sum += PT_AT(w, s, k);
    PT_AT(B, s, 0) = sum;
}

TEST_TABLE(ApiScratch, ExtentsMayDifferFromThreadToThreadAndLaunchToLaunch, queues) {
    rows of;
    polytile_queue *queue = NULL;
    polytile_kernel *kernel = NULL;
    wrap_rows(ctx, &of);
    CHECK_OK(polytile_kernel_create(ctx, "corner[s]: out B[s, 0]; scratch i32 w[s, 0:s]",
                                    &corner_kernel, &kernel));
    CHECK_OK(polytile_queue_create(ctx, *row, &queue));
    CHECK_OK(polytile_queue_attach(queue, 1, &of.array[1]));
    for (int round = 0; round < 3; round++)
        for (int64_t n = 1; n <= ROWS; n++)
            CHECK_OK(
                polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n), 1, &of.array[1], NULL));
    CHECK_OK(polytile_queue_detach(queue, 1, &of.array[1]));
    for (int s = 0; s < ROWS; s++)
        CHECK_EQUAL(of.b[s][0], s * (s + 1) + s * (s + 1) / 2);
    polytile_queue_destroy(queue);
}

/** Does for a box what the body does for a thread. */
static int launch_turn(const polytile_sub_kernel *launch) {
    for (int64_t s = launch->threads->range[0].lo; s <= launch->threads->range[0].hi; s++) {
        const polytile_domain one = polytile_domain_from_bounds(1, (int64_t[]){s}, (int64_t[]){s});
        turn_kernel.host(&one, launch->views, NULL);
    }
    return launch->n_views == 4 ? 0 : 1;
}

TEST_TABLE(ApiScratch, LaunchersGetTheRowsOfTheirBox, devices) {
    rows of;
    polytile_device *device = NULL;
    wrap_rows(ctx, &of);
    const polytile_kernel *kernel =
        create_kernel(ctx, &(polytile_implementation){.host_launcher = launch_turn});
    CHECK_OK(polytile_device_open(ctx, *row, &device));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &with_length));
    CHECK(are_turned(&of));
}

/** Notes where the scratch of the last row is, and leaves it alone. */
static const int32_t *noted;
POLYTILE_KERNEL(note, (s), (const int32_t, A, 2), (int32_t, w, 2), (int64_t, sum, 1),
                (int32_t, B, 2)) {
    noted = &PT_AT(w, s, 0);
    (void)sum;
    PT_AT(B, s, 0) = PT_AT(A, s, 0);
}

/** A run that a body of another context makes. */
static struct {
    polytile_device *device;
    const polytile_kernel *kernel;
    polytile_array **arrays;
    polytile_status status;
} inside;

enum { TEAM = 8 };

POLYTILE_KERNEL(nest, (k), (int32_t, R, 1)) {
    PT_AT(R, k) = (int32_t)k;
    if (k == TEAM - 1)
        inside.status = polytile_run(inside.device, inside.kernel, POLYTILE_EXTENTS(ROWS), 2,
                                     inside.arrays, &with_length);
}

TEST_CASE(ApiScratch, ALaunchHasItsOwnOnAnyThreadOfATeam) {
    rows of;
    int32_t result[TEAM];
    polytile_context *outside = NULL;
    polytile_device *team = NULL;
    polytile_kernel *nesting = NULL;
    polytile_array *array = NULL;
    wrap_rows(ctx, &of);
    inside.kernel = create_kernel(ctx, &note_kernel);
    inside.arrays = of.array;
    inside.status = POLYTILE_INTERNAL;
    CHECK_OK(polytile_device_open(ctx, "host(threads=1)", &inside.device));
    CHECK_OK(polytile_run(inside.device, inside.kernel, POLYTILE_EXTENTS(ROWS), 2, of.array,
                          &with_length));
    const int32_t *before = noted;
    CHECK_OK(polytile_context_create(&outside));
    CHECK_OK(polytile_device_open(outside, "host(threads=8)", &team));
    CHECK_OK(polytile_kernel_create(outside, "nest[k]: out R[k]", &nest_kernel, &nesting));
    CHECK_OK(polytile_array_wrap(outside, "R", POLYTILE_I32, 1, (int64_t[]){TEAM}, result, &array));
    CHECK_OK(polytile_run(team, nesting, POLYTILE_EXTENTS(TEAM), 1, &array, NULL));
    CHECK_OK(inside.status);
    CHECK(noted == before);
    polytile_context_destroy(outside);
}

TEST_TABLE(ApiScratch, APlanRunsWithIt, devices) {
    rows of;
    polytile_device *device = NULL;
    polytile_plan *plan = NULL;
    polytile_plan_summary summary;
    wrap_rows(ctx, &of);
    const polytile_kernel *kernel = create_kernel(ctx, &turn_kernel);
    polytile_launch_options options = with_length;
    options.plan.limit_bytes = strstr(*row, "memory") == NULL ? 0 : 2048;
    CHECK_OK(polytile_device_open(ctx, *row, &device));
    CHECK_OK(polytile_plan_create(kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &options, &plan));
    polytile_plan_get_summary(plan, &summary);
    CHECK(options.plan.limit_bytes == 0 || summary.h2d_bytes == (int64_t)sizeof of.a);
    CHECK_OK(polytile_plan_run(plan, device, kernel, 2, of.array, NULL));
    CHECK(are_turned(&of));
}

TEST_CASE(ApiScratch, CertificatesNameIt) {
    rows of;
    polytile_plan *plan = NULL;
    wrap_rows(ctx, &of);
    const polytile_kernel *kernel = create_kernel(ctx, NULL);
    polytile_launch_options options = with_length;
    options.plan.limit_bytes = 250;
    CHECK_STATUS(polytile_plan_create(kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &options, &plan),
                 POLYTILE_NO_FIT);
    CHECK_CONTAINS(polytile_last_error(ctx), "turn: one 1-thread block needs 296 B", "A 96 B",
                   "w 96 B", "sum 8 B", "B 96 B", "the limit is 250 B");
}

static const struct {
    const char *declaration, *why;
} refused[] = {
    {"f[i]: in x[i]; scratch w[i]", "expected the type of scratch"},
    {"f[i]: in x[i]; scratch f32 w[i, :]", "subscript 2 of w leaves an end open"},
    {"f[i]: in x[i]; scratch f32 w[i], out y[i]", "write ';' before the next role 'out'"},
    {"f[i]: in x[i]; scratch f32 x[i]", "x is an array already"},
    {"f[i]: scratch f32 x[i]; in x[i]", "x is scratch already"},
    {"f[i]: scratch f32 w[i], w[i+1]", "w is scratch already"},
    {"f[i]: scratch f32 w[i]", "no section but of scratch"},
    {"f[i]: in x[i]; scratch f32 {[i] -> w[i]}", "of scratch"},
    {"f[i](f32 w): in x[i]; scratch f32 w[i]", "the name 'w' is a parameter already"},
};

TEST_TABLE(ApiScratch, AWrongDeclarationIsRefused, refused) {
    polytile_kernel *kernel = NULL;
    CHECK_STATUS(polytile_kernel_create(ctx, row->declaration, NULL, &kernel),
                 POLYTILE_DECLARATION);
    CHECK_CONTAINS(polytile_last_error(ctx), row->why);
}

TEST_CASE(ApiScratch, ThreadsMustNotShareIt) {
    rows of;
    polytile_kernel *kernel = NULL;
    polytile_witness found;
    wrap_rows(ctx, &of);
    CHECK_OK(polytile_kernel_create(ctx, "f[s]: in A[s, :]; scratch i32 w[0:3]; out B[s, :]", NULL,
                                    &kernel));
    CHECK_STATUS(polytile_check(kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, NULL),
                 POLYTILE_CONFLICT);
    CHECK_CONTAINS(polytile_last_error(ctx), "conflict on w[0]", "scratch i32 w[0:3]",
                   "scratch is a thread's own");
    CHECK(polytile_last_witness(ctx, &found));
    CHECK_TEXT(polytile_kernel_get_view_name(kernel, found.operand), "w");
    CHECK_OK(polytile_check(kernel, POLYTILE_EXTENTS(1), 2, of.array, NULL));
}

TEST_CASE(ApiScratch, ExtentsMustHoldSomethingAndFit64Bits) {
    rows of;
    wrap_rows(ctx, &of);
    const polytile_kernel *kernel = create_kernel(ctx, NULL);
    polytile_parameter n = {.name = "n", .value = 0};
    const polytile_launch_options options = {.n_parameters = 1, .parameters = &n};
    CHECK_STATUS(polytile_check(kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &options),
                 POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "dimension 1 of scratch w runs over 0:-1");
    n.value = INT64_C(1) << 60;
    CHECK_STATUS(polytile_check(kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &options),
                 POLYTILE_OVERFLOW);
    CHECK_CONTAINS(polytile_last_error(ctx), "the bytes of scratch w exceed 64 bits");
}

TEST_CASE(ApiScratch, ItIsBuiltByCallsAsByText) {
    rows of;
    polytile_declaration *made = NULL;
    polytile_kernel *kernel = NULL;
    polytile_device *device = NULL;
    const char *index[] = {"s"}, *parameter[] = {"n"};
    const polytile_affine s = {.index = {1}}, zero = {0}, last = {-1, .parameter = {1}};
    const polytile_subscript whole = {.step = 1, .from_first = true, .to_last = true};
    const polytile_subscript row[] = {{s, s, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL},
                                      whole};
    const polytile_subscript own[] = {
        {s, s, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL},
        {zero, last, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL}};
    wrap_rows(ctx, &of);
    CHECK_OK(polytile_declaration_create(ctx, "turn", 1, index, 1, parameter, &made));
    CHECK_OK(polytile_declaration_add(made, POLYTILE_IN, false, "A", 2, row));
    CHECK_STATUS(polytile_declaration_add(made, POLYTILE_SCRATCH, false, "w", 2, own),
                 POLYTILE_DECLARATION);
    CHECK_CONTAINS(polytile_last_error(ctx), "polytile_declaration_add_scratch()");
    CHECK_STATUS(polytile_declaration_add_scratch(made, POLYTILE_BYTES(0), "w", 2, own),
                 POLYTILE_DECLARATION);
    CHECK_STATUS(polytile_declaration_add_scratch(made, POLYTILE_I32, "w", 2, row),
                 POLYTILE_DECLARATION);
    CHECK_STATUS(polytile_declaration_add_scratch(made, POLYTILE_I32, NULL, 2, own),
                 POLYTILE_INVALID);
    CHECK_STATUS(polytile_declaration_add_scratch(NULL, POLYTILE_I32, "w", 2, own),
                 POLYTILE_INVALID);
    CHECK_OK(polytile_declaration_add_scratch(made, POLYTILE_I32, "w", 2, own));
    CHECK_OK(polytile_declaration_add_scratch(made, POLYTILE_I64, "sum", 1, own));
    CHECK_OK(polytile_declaration_add(made, POLYTILE_OUT, false, "B", 2, row));
    CHECK_OK(polytile_kernel_create_from(made, &turn_kernel, &kernel));
    CHECK_OK(polytile_device_open(ctx, "host(memory=2KiB)", &device));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &with_length));
    CHECK(are_turned(&of));
}

TEST_CASE(ApiScratch, ABodyForOtherElementsIsRefused) {
    rows of;
    polytile_kernel *kernel = NULL;
    polytile_device *device = NULL;
    polytile_queue *queue = NULL;
    wrap_rows(ctx, &of);
    CHECK_OK(polytile_kernel_create(
        ctx, "turn[s]: in A[s, :]; scratch f64 w[s, 0:n-1], i64 sum[s]; out B[s, :]", &turn_kernel,
        &kernel));
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    CHECK_STATUS(polytile_run(device, kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &with_length),
                 POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "w", "f64", "view 1 (w)", "i32");
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_OK(polytile_queue_attach(queue, 2, of.array));
    CHECK_STATUS(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(ROWS), 2, of.array, &with_length),
        POLYTILE_INVALID);
}

TEST_CASE(ApiScratch, ACheckTellsOfReadsOfWhatWasNotWritten) {
    rows of;
    polytile_device *device = NULL;
    polytile_check_report report;
    polytile_use uses[2];
    wrap_rows(ctx, &of);
    const polytile_kernel *right = create_kernel(ctx, &turn_kernel);
    const polytile_kernel *wrong = create_kernel(ctx, &guess_kernel);
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    CHECK_OK(polytile_check_run(device, right, POLYTILE_EXTENTS(ROWS), 2, of.array, &with_length,
                                &report));
    CHECK_OK(
        polytile_check_use(device, right, POLYTILE_EXTENTS(ROWS), 2, of.array, &with_length, uses));
    CHECK(uses[0].n_declared >= ROWS * LENGTH);
    CHECK_EQUAL(uses[1].n_declared, 0);
    CHECK_STATUS(polytile_check_run(device, wrong, POLYTILE_EXTENTS(ROWS), 2, of.array,
                                    &with_length, &report),
                 POLYTILE_INVALID);
    CHECK_EQUAL(report.violation, POLYTILE_READS_UNDECLARED);
    CHECK_TEXT(polytile_kernel_get_view_name(wrong, report.array), "w");
    CHECK_EQUAL(report.element[1], 7);
    CHECK_CONTAINS(polytile_last_error(ctx), "reads w[", "scratch that it did not write before",
                   "scratch i32 w[s, 0:n-1]", "write what is read of it first");
}
