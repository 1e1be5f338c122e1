#include <polytile/mpi.h>
#include <polytile/polytile.h>

#include "api/compressed_rows.h"
#include "support/c_test.h"

#include <string.h>

/* Products with sparse matrices over ranks, which all have the matrix. */

COMPRESSED_ROWS(rows, int32_t)
MATRIX_ENTRIES(entries, int32_t)

POLYTILE_KERNEL(feed, (i), (const float, y, 1), (float, x, 1)) {
    PT_AT(x, i) = (float)((int)PT_AT(y, i) % 8);
}

POLYTILE_KERNEL(turn, (e), (int32_t, K, 1)) {
    PT_AT(K, e) = (PT_AT(K, e) + 7) % 300;
}

enum { N = 300, EACH = 5, N_ENTRIES = N * EACH, MOST_ARRAYS = 5 };

static const struct {
    const char *device, *layout;
} places[] = {{"host", "block"},
              {"host", "cyclic(7)"},
              {"host(memory=16KiB)", "block"},
              {"host(memory=1MiB)", "weighted"},
              {"host,host(memory=16KiB)", "block"}};

typedef struct matrix {
    int32_t P[N + 1], K[N_ENTRIES], R[N_ENTRIES];
    float V[N_ENTRIES], x[N], y[N], product[N], before[N];
    polytile_array *V_array, *P_array, *K_array, *R_array, *x_array, *y_array;
} matrix;

/** A band, and an entry of each row in the other half. */
static int32_t column(int i, int k) {
    const int near = i + k < N ? i + k : N - 1;
    return (int32_t)(k < EACH - 1 ? near : (i + N / 2) % N);
}

static void wrap(polytile_context *ctx, const char *name, polytile_type type, int64_t extent,
                 void *data, polytile_array **array) {
    CHECK_OK(polytile_array_wrap(ctx, name, type, 1, &extent, data, array));
}

/** product becomes that of what was before, and what is before becomes what it feeds. */
static void multiply_plainly(matrix *of) {
    for (int i = 0; i < N; i++) {
        of->product[i] = 0;
        for (int k = 0; k < EACH; k++)
            of->product[i] += of->V[i * EACH + k] * of->before[column(i, k)];
    }
    for (int i = 0; i < N; i++)
        of->before[i] = (float)((int)of->product[i] % 8);
}

static void make_matrix(polytile_context *ctx, matrix *of) {
    memset(of, 0, sizeof *of);
    for (int i = 0; i < N; i++) {
        of->x[i] = (float)(i % 9);
        of->P[i + 1] = (i + 1) * EACH;
        for (int k = 0; k < EACH; k++) {
            of->V[i * EACH + k] = (float)(k + 1);
            of->K[i * EACH + k] = column(i, k);
            of->R[i * EACH + k] = i;
        }
    }
    for (int i = 0; i < N; i++)
        of->before[i] = of->x[i];
    multiply_plainly(of);
    wrap(ctx, "V", POLYTILE_F32, N_ENTRIES, of->V, &of->V_array);
    wrap(ctx, "P", POLYTILE_I32, N + 1, of->P, &of->P_array);
    wrap(ctx, "K", POLYTILE_I32, N_ENTRIES, of->K, &of->K_array);
    wrap(ctx, "R", POLYTILE_I32, N_ENTRIES, of->R, &of->R_array);
    wrap(ctx, "x", POLYTILE_F32, N, of->x, &of->x_array);
    wrap(ctx, "y", POLYTILE_F32, N, of->y, &of->y_array);
}

static polytile_queue *open_queue(polytile_context *ctx, const char *device, const char *layout) {
    const polytile_share_options options = {.layout = layout};
    polytile_queue *queue = NULL;
    CHECK_OK(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device, &options, &queue));
    return queue;
}

static polytile_kernel *create(polytile_context *ctx, const char *text,
                               const polytile_implementation *implementation) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, text, implementation, &kernel));
    return kernel;
}

#define ROWS    "rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]"
#define ENTRIES "entries[e]: in V[e], x[K[e]]; sum y[R[e]]"
#define ROW_ARRAYS(of)                                                                             \
    POLYTILE_ARRAYS((of).V_array, (of).P_array, (of).x_array, (of).K_array, (of).y_array)
#define ENTRY_ARRAYS(of)                                                                           \
    POLYTILE_ARRAYS((of).V_array, (of).x_array, (of).K_array, (of).y_array, (of).R_array)

TEST_TABLE(MpiLookedUp, RowsAreThoseOfOneProcess, places) {
    static matrix of;
    make_matrix(ctx, &of);
    polytile_kernel *kernel = create(ctx, ROWS, &rows_kernel);
    polytile_queue *queue = open_queue(ctx, row->device, row->layout);
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    for (int k = 0; k < 3; k++)
        CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N), ROW_ARRAYS(of), NULL));
    CHECK_OK(polytile_queue_detach(queue, ROW_ARRAYS(of)));
    CHECK_EQUAL(memcmp(of.y, of.product, sizeof of.y), 0);
    polytile_queue_destroy(queue);
}

/* What a product is becomes what the next one is of: columns far away come from other ranks. */
TEST_TABLE(MpiLookedUp, ProductsOfProductsAreThoseOfOneProcess, places) {
    static matrix of;
    make_matrix(ctx, &of);
    polytile_kernel *kernel = create(ctx, ROWS, &rows_kernel);
    polytile_kernel *feed = create(ctx, "feed[i]: in y[i]; out x[i]", &feed_kernel);
    polytile_queue *queue = open_queue(ctx, row->device, row->layout);
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    for (int k = 0; k < 4; k++) {
        CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N), ROW_ARRAYS(of), NULL));
        CHECK_OK(polytile_queue_launch(queue, feed, POLYTILE_EXTENTS(N),
                                       POLYTILE_ARRAYS(of.y_array, of.x_array), NULL));
    }
    CHECK_OK(polytile_queue_detach(queue, ROW_ARRAYS(of)));
    for (int k = 1; k < 4; k++)
        multiply_plainly(&of);
    CHECK_EQUAL(memcmp(of.y, of.product, sizeof of.y), 0);
    polytile_queue_destroy(queue);
}

/* Columns that a launch writes, each rank some of them, are on all ranks before they are looked up.
 */
TEST_TABLE(MpiLookedUp, ColumnsThatALaunchWroteAreLookedUp, places) {
    static matrix of;
    make_matrix(ctx, &of);
    polytile_kernel *kernel = create(ctx, ROWS, &rows_kernel);
    polytile_kernel *turn = create(ctx, "turn[e]: inout K[e]", &turn_kernel);
    polytile_queue *queue = open_queue(ctx, row->device, row->layout);
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    for (int k = 0; k < 2; k++) {
        CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N), ROW_ARRAYS(of), NULL));
        CHECK_OK(polytile_queue_launch(queue, turn, POLYTILE_EXTENTS(N_ENTRIES),
                                       POLYTILE_ARRAYS(of.K_array), NULL));
    }
    CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N), ROW_ARRAYS(of), NULL));
    CHECK_OK(polytile_queue_detach(queue, ROW_ARRAYS(of)));
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int k = 0; k < EACH; k++)
            sum += of.V[i * EACH + k] * of.x[(column(i, k) + 14) % N];
        CHECK_EQUAL(sum == of.y[i], 1);
    }
    polytile_queue_destroy(queue);
}

TEST_TABLE(MpiLookedUp, SumsOfEntriesAreThoseOfOneProcess, places) {
    static matrix of;
    make_matrix(ctx, &of);
    polytile_kernel *kernel = create(ctx, ENTRIES, &entries_kernel);
    polytile_queue *queue = open_queue(ctx, row->device, row->layout);
    CHECK_OK(polytile_queue_attach(queue, ENTRY_ARRAYS(of)));
    CHECK_OK(
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_ENTRIES), ENTRY_ARRAYS(of), NULL));
    CHECK_OK(polytile_queue_detach(queue, ENTRY_ARRAYS(of)));
    CHECK_EQUAL(memcmp(of.y, of.product, sizeof of.y), 0);
    polytile_queue_destroy(queue);
}

/* A mesh whose cells have near numbers as neighbours. */

enum { N_CELLS = 20000, N_NEIGHBOURS = 3, REACH = 8, N_STEPS = 10 };

POLYTILE_KERNEL(relax, (i), (const int32_t, E, 2), (const uint32_t, u, 1), (uint32_t, v, 1)) {
    uint32_t sum = 5 * PT_AT(u, i);
    for (int64_t k = 0; k < N_NEIGHBOURS; k++)
        sum = 3 * sum + PT_AT(u, PT_AT(E, i, k));
    PT_AT(v, i) = sum;
}

typedef struct mesh {
    int32_t E[N_CELLS][N_NEIGHBOURS];
    uint32_t u[N_CELLS], v[N_CELLS], expected[N_CELLS];
} mesh;

static void make_mesh(mesh *of) {
    uint32_t number = 1;
    for (int i = 0; i < N_CELLS; i++) {
        for (int k = 0; k < N_NEIGHBOURS; k++) {
            number = number * 1664525u + 1013904223u;
            const int cell = i - REACH + (int)(number >> 16) % (2 * REACH + 1);
            of->E[i][k] = cell < 0 ? 0 : cell < N_CELLS ? cell : N_CELLS - 1;
        }
        of->u[i] = of->expected[i] = number;
    }
}

static void step_plainly(mesh *of) {
    static uint32_t made[N_CELLS];
    for (int i = 0; i < N_CELLS; i++) {
        made[i] = 5 * of->expected[i];
        for (int k = 0; k < N_NEIGHBOURS; k++)
            made[i] = 3 * made[i] + of->expected[of->E[i][k]];
    }
    memcpy(of->expected, made, sizeof made);
}

/* Each rank takes its part of the mesh through its memory once for all steps. */
TEST_CASE(MpiLookedUp, StepsOverAMeshGoOnceThroughEachRanksPart) {
    static mesh of;
    const int64_t n_cells = N_CELLS;
    polytile_array *E = NULL, *u = NULL, *v = NULL;
    polytile_report told = {0};
    int n_ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    make_mesh(&of);
    CHECK_OK(polytile_array_wrap(ctx, "E", POLYTILE_I32, 2,
                                 (const int64_t[]){N_CELLS, N_NEIGHBOURS}, of.E, &E));
    CHECK_OK(polytile_array_wrap(ctx, "u", POLYTILE_U32, 1, &n_cells, of.u, &u));
    CHECK_OK(polytile_array_wrap(ctx, "v", POLYTILE_U32, 1, &n_cells, of.v, &v));
    polytile_kernel *kernel =
        create(ctx, "relax[i]: in E[i, 0:2], u[E[i, 0:2]], u[i]; out v[i]", &relax_kernel);
    polytile_queue *queue = open_queue(ctx, "host(memory=64KiB)", "block");
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(E, u, v)));
    polytile_queue_pause(queue);
    for (int k = 0; k < N_STEPS; k++) {
        polytile_array *from = k % 2 == 0 ? u : v, *to = k % 2 == 0 ? v : u;
        CHECK_OK(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_CELLS),
                                       POLYTILE_ARRAYS(E, from, to), NULL));
        step_plainly(&of);
    }
    polytile_queue_resume(queue);
    CHECK_OK(polytile_queue_detach(queue, POLYTILE_ARRAYS(E, u, v)));
    CHECK_EQUAL(memcmp(of.u, of.expected, sizeof of.u), 0);
    polytile_queue_get_report(queue, false, &told);
    CHECK(told.h2d_bytes <= (int64_t)(sizeof of.E + 2 * sizeof of.u) / n_ranks * 5 / 4);
    polytile_queue_destroy(queue);
}

TEST_CASE(MpiLookedUp, WhatIsLookedUpIsTheSameOnAllRanks) {
    static matrix of;
    int number, n_ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks == 1)
        return;
    make_matrix(ctx, &of);
    polytile_kernel *kernel = create(ctx, ROWS, &rows_kernel);
    polytile_queue *queue = open_queue(ctx, "host", "block");
    of.K[7] = number == n_ranks - 1 ? 200 : of.K[7];
    CHECK_OK(polytile_queue_attach(queue, ROW_ARRAYS(of)));
    CHECK_REFUSED(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N), ROW_ARRAYS(of), NULL),
                  POLYTILE_INVALID, "rank ", "rows", "holding");
    CHECK_OK(polytile_queue_detach(queue, ROW_ARRAYS(of)));
    polytile_queue_destroy(queue);
}
