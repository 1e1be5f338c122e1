#include <polytile/check.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/ranks.h>

#include "api/compressed_rows.h"
#include "support/c_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Subscripts that hold elements of index arrays. */

COMPRESSED_ROWS(rows_i32, int32_t)
MATRIX_ENTRIES(entries_i64, int64_t)

POLYTILE_KERNEL(shift_rows, (i), (int32_t, P, 1)) {
    PT_AT(P, i) = i == 0 ? 0 : i <= 2 ? 1 : PT_AT(P, i);
}

POLYTILE_KERNEL(spoil, (i), (int32_t, P, 1)) {
    PT_AT(P, i) = 90;
}

#define ROWS    "spmv[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]"
#define ENTRIES "spmv[e]: in V[e], x[K[e]]; sum y[R[e]]"

enum { N_ROWS = 5, N_ENTRIES = 7 };

static float values[N_ENTRIES] = {1, 2, 3, 4, 5, 6, 7};
static float x[N_ROWS] = {1, 10, 100, 1000, 10000};
static const float product[N_ROWS] = {21, 0, 5304, 6, 70000};

typedef struct matrix {
    int32_t P[N_ROWS + 1];
    int32_t K[N_ENTRIES];
    int64_t wide_K[N_ENTRIES];
    int64_t R[N_ENTRIES];
    float y[N_ROWS];
    polytile_array *V_array, *P_array, *K_array, *x_array, *y_array, *wide_K_array, *R_array;
} matrix;

static void wrap(polytile_context *ctx, const char *name, polytile_type type, int64_t extent,
                 void *data, polytile_array **array) {
    CHECK_OK(polytile_array_wrap(ctx, name, type, 1, &extent, data, array));
}

static void wrap_matrix(polytile_context *ctx, matrix *of) {
    *of = (matrix){.P = {0, 2, 2, 5, 6, 7},
                   .K = {0, 1, 2, 0, 3, 0, 4},
                   .wide_K = {0, 1, 2, 0, 3, 0, 4},
                   .R = {0, 0, 2, 2, 2, 3, 4}};
    wrap(ctx, "V", POLYTILE_F32, N_ENTRIES, values, &of->V_array);
    wrap(ctx, "x", POLYTILE_F32, N_ROWS, x, &of->x_array);
    wrap(ctx, "y", POLYTILE_F32, N_ROWS, of->y, &of->y_array);
    wrap(ctx, "P", POLYTILE_I32, N_ROWS + 1, of->P, &of->P_array);
    wrap(ctx, "K", POLYTILE_I32, N_ENTRIES, of->K, &of->K_array);
    wrap(ctx, "wide_K", POLYTILE_I64, N_ENTRIES, of->wide_K, &of->wide_K_array);
    wrap(ctx, "R", POLYTILE_I64, N_ENTRIES, of->R, &of->R_array);
}

#define ROW_ARRAYS(of)                                                                             \
    POLYTILE_ARRAYS((of).V_array, (of).P_array, (of).x_array, (of).K_array, (of).y_array)
#define ENTRY_ARRAYS(of)                                                                           \
    POLYTILE_ARRAYS((of).V_array, (of).x_array, (of).wide_K_array, (of).y_array, (of).R_array)

static polytile_kernel *create(polytile_context *ctx, const char *text,
                               const polytile_implementation *implementation) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, text, implementation, &kernel));
    return kernel;
}

TEST_CASE(ApiIndexArrays, AreOperandsFromTheirFirstMention) {
    const polytile_kernel *kernel = create(ctx, ROWS, NULL);
    static const char *const names[] = {"V", "P", "x", "K", "y"};
    CHECK_EQUAL(polytile_kernel_get_n_arrays(kernel), 5);
    for (int a = 0; a < 5; a++)
        CHECK_TEXT(polytile_kernel_get_array_name(kernel, a), names[a]);
    CHECK_EQUAL(polytile_kernel_get_array_role(kernel, 1), POLYTILE_IN);
}

static const struct {
    const char *text;
    int column;
    const char *says;
} wrong[] = {
    {"k[i]: in x[P[i]*2]; out y[i]", 12, "with no factor before it"},
    {"k[i]: in x[-P[i]]; out y[i]", 12, "with no factor before it"},
    {"k[i]: in x[P[i]+Q[i]]; out y[i]", 17, "'Q' is a second one"},
    {"k[i]: in x[P[i]:9:2]; out y[i]", 12, "no step and no edge"},
    {"k[i]: in x[P[i]:]; out y[i]", 12, "both ends"},
    {"k[i]: in x[wrap(P[i])]; out y[i]", 12, "no step and no edge"},
    {"k[i]: in x[P[0:i]:9]; out y[i]", 12, "holds one element of P, not several"},
    {"k[i]: in x[P[wrap(i)]]; out y[i]", 12, "P is an index array here"},
    {"k[i]: in x[P[i, 0]], P[i]; out y[i]", 22, "P has 1 subscript here and 2 before"},
    {"k[i]: in x[P[i]]; out P[i]", 23, "P stands inside a subscript"},
    {"k[i]: out P[i]; in x[P[i]]", 22, "P stands inside a subscript"},
    {"k[i]: sum y[y[i]]", 13, "y stands inside a subscript"},
    {"k[i]: in {[i] -> x[P[i]]}; out y[i]", 20, "not in braces"},
    {"k[i]: in x[0:9:P[i]]; out y[i]", 16, "not in braces, steps"},
    {"k[i]: scratch f32 w[P[i]]; out y[i]", 19, "w"},
};

TEST_TABLE(ApiIndexArrays, AreRefusedWhereTheyCannotStand, wrong) {
    char column[32];
    polytile_kernel *kernel = NULL;
    snprintf(column, sizeof column, "(column %d)", row->column);
    CHECK_REFUSED(polytile_kernel_create(ctx, row->text, NULL, &kernel), POLYTILE_DECLARATION,
                  row->says);
    CHECK_CONTAINS(polytile_last_error(ctx), column);
}

static const polytile_affine at_i = {0, {1}, {0}}, behind_i = {1, {1}, {0}}, none = {0, {0}, {0}},
                             less_1 = {-1, {0}, {0}};

#define SUBSCRIPT(lo, hi, lo_of, hi_of)                                                            \
    { (lo), (hi), 1, false, false, POLYTILE_EDGE_CLIP, (lo_of), (hi_of) }

TEST_CASE(ApiIndexArrays, ByCallsAreTheSameAsByText) {
    matrix of;
    polytile_declaration *declaration = NULL;
    polytile_kernel *kernel = NULL;
    const char *const indices[] = {"i"};
    const polytile_subscript i = SUBSCRIPT(at_i, at_i, NULL, NULL);
    const polytile_subscript next = SUBSCRIPT(behind_i, behind_i, NULL, NULL);
    const polytile_index_elements from = {"P", 1, &i}, to = {"P", 1, &next};
    const polytile_subscript row = SUBSCRIPT(none, less_1, &from, &to);
    const polytile_index_elements columns = {"K", 1, &row};
    const polytile_subscript gathered = SUBSCRIPT(none, none, &columns, &columns);
    polytile_subscript stepped = row;
    stepped.step = 2;
    wrap_matrix(ctx, &of);
    CHECK_OK(polytile_declaration_create(ctx, "spmv", 1, indices, 0, NULL, &declaration));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_IN, false, "V", 1, &row));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_IN, false, "x", 1, &gathered));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_OUT, false, "y", 1, &i));
    CHECK_REFUSED(polytile_declaration_add(declaration, POLYTILE_OUT, false, "P", 1, &i),
                  POLYTILE_DECLARATION, "P stands inside a subscript");
    CHECK_REFUSED(polytile_declaration_add(declaration, POLYTILE_IN, false, "V", 1, &stepped),
                  POLYTILE_DECLARATION, "no step");
    CHECK_OK(polytile_kernel_create_from(declaration, &rows_i32_kernel, &kernel));
    CHECK_EQUAL(polytile_kernel_get_n_arrays(kernel), 5);
    polytile_device *device = NULL;
    CHECK_OK(polytile_device_open(ctx, "host(memory=64B)", &device));
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(N_ROWS), ROW_ARRAYS(of), NULL));
    CHECK(memcmp(of.y, product, sizeof product) == 0);
}

static const char *const devices[] = {"host", "host(memory=52B)", "host(memory=64B)",
                                      "host(memory=100B)", "host(memory=1KiB)"};

TEST_TABLE(ApiIndexArrays, GiveTheProductOfAMatrix, devices) {
    matrix of;
    polytile_device *device = NULL;
    wrap_matrix(ctx, &of);
    CHECK_OK(polytile_device_open(ctx, *row, &device));
    CHECK_OK(polytile_run(device, create(ctx, ROWS, &rows_i32_kernel), POLYTILE_EXTENTS(N_ROWS),
                          ROW_ARRAYS(of), NULL));
    CHECK(memcmp(of.y, product, sizeof product) == 0);
    memset(of.y, 0, sizeof of.y);
    CHECK_OK(polytile_run(device, create(ctx, ENTRIES, &entries_i64_kernel),
                          POLYTILE_EXTENTS(N_ENTRIES), ENTRY_ARRAYS(of), NULL));
    CHECK(memcmp(of.y, product, sizeof product) == 0);
}

static const struct {
    int row, entry; /* of P, or of K, that is wrong; -1: none */
    int32_t value;
    const char *says;
} wrong_matrices[] = {
    {2, -1, 1,
     "thread [1] has the range 2:0 of V, whose ends are out of order; P[1] holds 2, and "
     "P[2] holds 1"},
    {5, -1, 8, "thread [4] touches V at 7 in subscript 1, where V has 0:6; P[5] holds 8"},
    {0, -1, -1, "thread [0] touches V at -1 in subscript 1, where V has 0:6; P[0] holds -1"},
    {-1, 3, 5, "thread [2] touches x at 5 in subscript 1, where x has 0:4; K[3] holds 5"},
    {-1, 6, -7, "thread [4] touches x at -7 in subscript 1, where x has 0:4; K[6] holds -7"},
};

TEST_TABLE(ApiIndexArrays, AreCheckedBeforeALaunch, wrong_matrices) {
    matrix of;
    polytile_plan *plan = NULL;
    wrap_matrix(ctx, &of);
    if (row->row >= 0)
        of.P[row->row] = row->value;
    if (row->entry >= 0)
        of.K[row->entry] = row->value;
    CHECK_REFUSED(polytile_plan_create(create(ctx, ROWS, NULL), POLYTILE_EXTENTS(N_ROWS),
                                       ROW_ARRAYS(of), NULL, &plan),
                  POLYTILE_DECLARATION, row->says);
}

TEST_CASE(ApiIndexArrays, MayHoldAnythingWhereNobodyLooks) {
    matrix of;
    polytile_device *device = NULL;
    wrap_matrix(ctx, &of);
    of.K[5] = -100;
    of.P[3] = 5;
    of.P[4] = 5;
    CHECK_OK(polytile_device_open(ctx, "host(memory=64B)", &device));
    CHECK_REFUSED(polytile_run(device, create(ctx, ROWS, &rows_i32_kernel),
                               POLYTILE_EXTENTS(N_ROWS), ROW_ARRAYS(of), NULL),
                  POLYTILE_DECLARATION, "K[5] holds -100");
    const polytile_domain first_rows =
        polytile_domain_from_bounds(1, (int64_t[]){0}, (int64_t[]){3});
    CHECK_OK(polytile_run(device, create(ctx, ROWS, &rows_i32_kernel), &first_rows, ROW_ARRAYS(of),
                          NULL));
    CHECK(memcmp(of.y, product, 3 * sizeof *product) == 0 && of.y[3] == 0);
}

TEST_CASE(ApiIndexArrays, AreI32OrI64InTheHostsMemory) {
    matrix of;
    polytile_plan *plan = NULL;
    polytile_array *described = NULL;
    wrap_matrix(ctx, &of);
    CHECK_OK(
        polytile_array_describe(ctx, "P", POLYTILE_I32, POLYTILE_EXTENTS(N_ROWS + 1), &described));
    of.K_array = of.V_array;
    CHECK_REFUSED(polytile_plan_create(create(ctx, ROWS, NULL), POLYTILE_EXTENTS(N_ROWS),
                                       ROW_ARRAYS(of), NULL, &plan),
                  POLYTILE_DECLARATION,
                  "K is looked up in subscripts, so its elements are i32 or i64, not f32");
    of.P_array = described;
    CHECK_REFUSED(polytile_plan_create(create(ctx, ROWS, NULL), POLYTILE_EXTENTS(N_ROWS),
                                       ROW_ARRAYS(of), NULL, &plan),
                  POLYTILE_INVALID, "it has no elements in the host's memory");
}

/* What devices and ranks have parts of, no host has whole. */
TEST_CASE(ApiIndexArrays, AreNoArraysOfAQueue) {
    matrix of;
    polytile_queue *queue = NULL;
    polytile_kernel *kernel = create(ctx, ROWS, &rows_i32_kernel);
    wrap_matrix(ctx, &of);
    CHECK_OK(polytile_queue_create(ctx, "host(memory=1MiB)", &queue));
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    CHECK_OK(polytile_queue_create_array(queue, "dealt", POLYTILE_I32, 1,
                                         (const int64_t[]){N_ROWS + 1}, &of.P_array));
    CHECK_REFUSED(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_ROWS), ROW_ARRAYS(of), NULL),
        POLYTILE_INVALID, "dealt is the queue's own", "attach an array that has all of them");
}

TEST_CASE(ApiIndexArrays, APlanHoldsForWhatTheyHeld) {
    matrix of;
    polytile_plan *plan = NULL;
    polytile_device *device = NULL;
    const polytile_launch_options options = {.plan.limit_bytes = 64};
    polytile_kernel *kernel = create(ctx, ROWS, &rows_i32_kernel);
    wrap_matrix(ctx, &of);
    CHECK_OK(polytile_device_open(ctx, "host(memory=64B)", &device));
    CHECK_OK(
        polytile_plan_create(kernel, POLYTILE_EXTENTS(N_ROWS), ROW_ARRAYS(of), &options, &plan));
    CHECK_OK(polytile_plan_run(plan, device, kernel, ROW_ARRAYS(of), NULL));
    CHECK(memcmp(of.y, product, sizeof product) == 0);
    of.P[1] = 1;
    CHECK_REFUSED(polytile_plan_run(plan, device, kernel, ROW_ARRAYS(of), NULL), POLYTILE_INVALID,
                  "make another plan, since subscripts look it up");
}

static void launch_rows(polytile_context *ctx, polytile_queue *queue, const polytile_kernel *kernel,
                        const matrix *of) {
    CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_ROWS), ROW_ARRAYS(*of), NULL));
}

/** Queue products before and after a launch that writes P. */
static void write_between(polytile_context *ctx, const char *device) {
    matrix of;
    polytile_queue *queue = NULL;
    polytile_kernel *kernel = create(ctx, ROWS, &rows_i32_kernel);
    polytile_kernel *writer = create(ctx, "shift_rows[i]: inout P[i]", &shift_rows_kernel);
    wrap_matrix(ctx, &of);
    CHECK_OK(polytile_queue_create(ctx, device, &queue));
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    launch_rows(ctx, queue, kernel, &of);
    launch_rows(ctx, queue, kernel, &of);
    CHECK_OK(polytile_queue_launch(queue, writer, POLYTILE_EXTENTS(N_ROWS + 1),
                                   POLYTILE_ARRAYS(of.P_array), NULL));
    launch_rows(ctx, queue, kernel, &of);
    launch_rows(ctx, queue, kernel, &of);
    CHECK_OK(polytile_queue_detach(queue, ROW_ARRAYS(of)));
    CHECK(of.P[1] == 1 && of.P[2] == 1);
    CHECK(of.y[0] == 1 && of.y[2] == 5324 && of.y[3] == 6);
    of.P[1] = of.P[2] = 2;
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    launch_rows(ctx, queue, kernel, &of);
    CHECK_OK(polytile_queue_detach(queue, ROW_ARRAYS(of)));
    CHECK(memcmp(of.y, product, sizeof product) == 0);
    polytile_queue_destroy(queue);
}

TEST_CASE(ApiIndexArrays, AreWaitedForWhereAnEarlierLaunchOfTheQueueWritesThem) {
    write_between(ctx, "host(memory=1280B)");
    write_between(ctx, "host(memory=1MiB)");
    write_between(ctx, "host");
}

TEST_CASE(ApiIndexArrays, AreCheckedAgainWhenALaunchHasWrittenThem) {
    matrix of;
    polytile_queue *queue = NULL;
    polytile_kernel *kernel = create(ctx, ROWS, &rows_i32_kernel);
    polytile_kernel *spoiler = create(ctx, "spoil[i]: inout P[i]", &spoil_kernel);
    wrap_matrix(ctx, &of);
    CHECK_OK(polytile_queue_create(ctx, "host(memory=1280B)", &queue));
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    launch_rows(ctx, queue, kernel, &of);
    CHECK_OK(polytile_queue_launch(queue, spoiler, POLYTILE_EXTENTS(2), POLYTILE_ARRAYS(of.P_array),
                                   NULL));
    CHECK_REFUSED(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_ROWS), ROW_ARRAYS(of), NULL),
        POLYTILE_DECLARATION, "P[1] holds 90", "P[2] holds 2");
    CHECK_OK(polytile_queue_detach(queue, ROW_ARRAYS(of)));
    CHECK(memcmp(of.y, product, sizeof product) == 0);
}

POLYTILE_KERNEL(scatter, (e), (const float, from, 1), (float, z, 1), (const int32_t, K, 1)) {
    PT_AT(z, PT_AT(K, e)) = PT_AT(from, e);
}

POLYTILE_KERNEL(scatter_beside, (e), (const float, from, 1), (float, z, 1), (const int32_t, K, 1)) {
    PT_AT(z, PT_AT(K, e) + 1) = PT_AT(from, e);
}

#define SCATTER "scatter[e]: in x[e]; out z[K[e]]"

enum { N_SCATTERED = 400 };

/* A permutation: element e goes to 7 * e modulo N_SCATTERED, which has no factor 7. */
typedef struct scattered {
    float x[N_SCATTERED], z[N_SCATTERED + 1];
    int32_t K[N_SCATTERED];
    polytile_array *arrays[3];
} scattered;

static void wrap_scattered(polytile_context *ctx, scattered *of) {
    *of = (scattered){.z = {0}};
    for (int e = 0; e < N_SCATTERED; e++) {
        of->x[e] = (float)(e + 1);
        of->K[e] = 7 * e % N_SCATTERED;
    }
    wrap(ctx, "x", POLYTILE_F32, N_SCATTERED, of->x, &of->arrays[0]);
    wrap(ctx, "z", POLYTILE_F32, N_SCATTERED + 1, of->z, &of->arrays[1]);
    wrap(ctx, "K", POLYTILE_I32, N_SCATTERED, of->K, &of->arrays[2]);
}

static const char *const scattering[] = {"host", "host(memory=3KiB)", "host(memory=64KiB)",
                                         "host(memory=16KiB),host", "host(threads=2)"};

TEST_TABLE(ApiIndexArrays, AreWrittenThroughWhereNoTwoThreadsMeet, scattering) {
    scattered of;
    polytile_queue *queue = NULL;
    polytile_kernel *kernel = create(ctx, SCATTER, &scatter_kernel);
    wrap_scattered(ctx, &of);
    of.z[N_SCATTERED] = -1;
    CHECK_OK(polytile_queue_create(ctx, *row, &queue));
    CHECK_OK(polytile_queue_attach(queue, 3, of.arrays));
    CHECK_OK(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_SCATTERED), 3, of.arrays, NULL));
    CHECK_OK(polytile_queue_detach(queue, 3, of.arrays));
    for (int e = 0; e < N_SCATTERED; e++)
        CHECK_NEAR(of.z[of.K[e]], e + 1, 0);
    CHECK_NEAR(of.z[N_SCATTERED], -1, 0);
    of.K[30] = of.K[4];
    CHECK_OK(polytile_queue_attach(queue, 3, of.arrays));
    CHECK_REFUSED(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_SCATTERED), 3, of.arrays, NULL),
        POLYTILE_CONFLICT, "scatter: threads [4] and [30] conflict on z[28]",
        "declare a reducing role");
    CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(30), 3, of.arrays, NULL));
    polytile_queue_destroy(queue);
}

/* Of the array that is written through an index array the box is held, where no other may be. */
TEST_CASE(ApiIndexArrays, AreNotWrittenThroughWhereAnotherNameHasElements) {
    scattered of;
    polytile_device *device = NULL;
    polytile_kernel *kernel = create(ctx, SCATTER, &scatter_kernel);
    wrap_scattered(ctx, &of);
    polytile_array *const one[] = {of.arrays[1], of.arrays[1], of.arrays[2]};
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    CHECK_REFUSED(polytile_run(device, kernel, POLYTILE_EXTENTS(N_SCATTERED), 3, one, NULL),
                  POLYTILE_UNSUPPORTED, "one array is given for x and z", "give two arrays");
    for (int e = 0; e < 20; e++)
        of.K[e] = 20 + 7 * e % 20;
    CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(20), 3, one, NULL));
}

TEST_CASE(ApiIndexArrays, AreWrittenThroughAsDeclared) {
    scattered of;
    polytile_device *device = NULL;
    polytile_check_report report;
    wrap_scattered(ctx, &of);
    CHECK_OK(polytile_device_open(ctx, "host(memory=64KiB)", &device));
    CHECK_OK(polytile_check_run(device, create(ctx, SCATTER, &scatter_kernel),
                                POLYTILE_EXTENTS(N_SCATTERED), 3, of.arrays, NULL, &report));
    CHECK_REFUSED(polytile_check_run(device, create(ctx, SCATTER, &scatter_beside_kernel),
                                     POLYTILE_EXTENTS(20), 3, of.arrays, NULL, &report),
                  POLYTILE_INVALID, "z");
    CHECK_EQUAL(report.violation, POLYTILE_WRITES_UNDECLARED);
}

static const char *const several[] = {"host,host", "host(memory=2KiB),host(memory=2KiB)",
                                      "host(memory=4KiB),host,host(memory=2KiB)"};

TEST_TABLE(ApiIndexArrays, AreKnownToQueuesOfSeveralDevices, several) {
    matrix of;
    polytile_queue *queue = NULL;
    polytile_kernel *kernel = create(ctx, ROWS, &rows_i32_kernel);
    polytile_kernel *writer = create(ctx, "shift_rows[i]: inout P[i]", &shift_rows_kernel);
    wrap_matrix(ctx, &of);
    CHECK_OK(polytile_queue_create(ctx, *row, &queue));
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    launch_rows(ctx, queue, kernel, &of);
    launch_rows(ctx, queue, kernel, &of);
    CHECK_OK(polytile_queue_launch(queue, writer, POLYTILE_EXTENTS(N_ROWS + 1),
                                   POLYTILE_ARRAYS(of.P_array), NULL));
    launch_rows(ctx, queue, kernel, &of);
    CHECK_OK(polytile_queue_detach(queue, ROW_ARRAYS(of)));
    CHECK(of.P[1] == 1 && of.P[2] == 1);
    CHECK(of.y[0] == 1 && of.y[2] == 5324 && of.y[3] == 6);
}

TEST_CASE(ApiIndexArrays, AreKnownToPlansOfSeveralLaunches) {
    matrix of;
    polytile_plan *plan = NULL;
    polytile_kernel *kernel = create(ctx, ROWS, &rows_i32_kernel);
    polytile_kernel *writer = create(ctx, "shift_rows[i]: inout P[i]", &shift_rows_kernel);
    wrap_matrix(ctx, &of);
    polytile_array *const arrays[] = {of.V_array, of.P_array, of.x_array, of.K_array, of.y_array};
    const polytile_chain_launch launch = {
        .kernel = kernel, .domain = *POLYTILE_EXTENTS(N_ROWS), .n_arrays = 5, .arrays = arrays};
    const polytile_chain_launch write = {.kernel = writer,
                                         .domain = *POLYTILE_EXTENTS(N_ROWS + 1),
                                         .n_arrays = 1,
                                         .arrays = &arrays[1]};
    const polytile_chain_launch launches[] = {launch, launch, write, launch};
    const polytile_plan_options options = {.limit_bytes = 4096};
    CHECK_OK(polytile_plan_create_chain(2, launches, 0, NULL, &options, &plan));
    CHECK_OK(polytile_plan_create_chain(3, launches, 0, NULL, &options, &plan));
    CHECK_REFUSED(polytile_plan_create_chain(4, launches, 0, NULL, &options, &plan),
                  POLYTILE_UNSUPPORTED, "elements of P, which an earlier launch writes");
}

/* Two ranks own half of all each, and look up what lies at the other end. */
TEST_CASE(ApiIndexArrays, AreKnownToPlansOverRanks) {
    enum { N = 64 };
    static int32_t K[N];
    polytile_ranks_plan *plan = NULL;
    polytile_ranks_summary summary;
    polytile_array *arrays[3];
    for (int e = 0; e < N; e++)
        K[e] = e < 4 ? N - 1 - e : e;
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(N), &arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "K", POLYTILE_I32, 1, (const int64_t[]){N}, K, &arrays[1]));
    CHECK_OK(polytile_array_describe(ctx, "z", POLYTILE_F32, POLYTILE_EXTENTS(N), &arrays[2]));
    const polytile_chain_launch launch = {.kernel =
                                              create(ctx, "gather[e]: in x[K[e]]; out z[e]", NULL),
                                          .domain = *POLYTILE_EXTENTS(N),
                                          .n_arrays = 3,
                                          .arrays = arrays};
    const polytile_plan_options limit = {.limit_bytes = 512};
    const polytile_ranks_request request = {
        .n_ranks = 2, .n_launches = 1, .launches = &launch, .options = &limit};
    CHECK_OK(polytile_ranks_plan_create(&request, &plan));
    polytile_ranks_plan_get_summary(plan, &summary);
    CHECK_EQUAL(summary.n_threads, N);
    CHECK_EQUAL(summary.exchange_bytes, 4 * (int)sizeof(float));
    polytile_ranks_plan_destroy(plan);
}

/* Launches of which one writes what the next one looks up. */
TEST_CASE(ApiIndexArrays, PlansSayThatLaunchesAreNotSkewed) {
    enum { N = 4096 };
    static int32_t K[N];
    char *text = NULL;
    polytile_plan *plan = NULL;
    polytile_array *arrays[3];
    CHECK_OK(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(N), &arrays[0]));
    CHECK_OK(polytile_array_wrap(ctx, "K", POLYTILE_I32, 1, (const int64_t[]){N}, K, &arrays[1]));
    CHECK_OK(polytile_array_describe(ctx, "z", POLYTILE_F32, POLYTILE_EXTENTS(N), &arrays[2]));
    polytile_array *const fed[] = {arrays[2], arrays[0]};
    const polytile_chain_launch gather = {.kernel =
                                              create(ctx, "gather[e]: in x[K[e]]; out z[e]", NULL),
                                          .domain = *POLYTILE_EXTENTS(N),
                                          .n_arrays = 3,
                                          .arrays = arrays};
    const polytile_chain_launch feed = {.kernel = create(ctx, "feed[e]: in z[e]; out x[e]", NULL),
                                        .domain = *POLYTILE_EXTENTS(N),
                                        .n_arrays = 2,
                                        .arrays = fed};
    const polytile_chain_launch launches[] = {gather, feed, gather, feed};
    const polytile_plan_options options = {.limit_bytes = 32 * 1024};
    CHECK_OK(polytile_plan_create_chain(4, launches, 0, NULL, &options, &plan));
    CHECK_OK(polytile_plan_to_string(plan, POLYTILE_TEXT, &text));
    CHECK(text != NULL && strstr(text, "gather looks up elements of x") != NULL);
    free(text);
    polytile_plan_destroy(plan);
}

TEST_CASE(ApiIndexArrays, AreKnownToChecksThatRunTheKernel) {
    matrix of;
    polytile_device *device = NULL;
    polytile_check_report report;
    polytile_kernel *kernel = create(ctx, ROWS, &rows_i32_kernel);
    wrap_matrix(ctx, &of);
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    CHECK_OK(polytile_check(kernel, POLYTILE_EXTENTS(N_ROWS), ROW_ARRAYS(of), NULL));
    CHECK_OK(polytile_check_run(device, kernel, POLYTILE_EXTENTS(N_ROWS), ROW_ARRAYS(of), NULL,
                                &report));
    CHECK(report.n_runs > 0);
    for (int e = 0; e < N_ROWS; e++)
        CHECK_EQUAL(of.y[e], 0);
}
