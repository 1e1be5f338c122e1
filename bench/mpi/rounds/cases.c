#include "by_hand.h"
#include "cannon_kernels.h"
#include "case.h"
#include "mandelbrot_gpu.h"
#include "mandelbrot_kernels.h"
#include "nbody_kernels.h"

#include <stdio.h>
#include <string.h>

enum { Q = 2, M = 256, N_STEPS = 10, N_ROWS = 512, N_WORKERS = ROUNDS_RANKS - 1 };

static void fill_cannon(const rounds_case *of, int rank, void *const *own) {
    (void)of;
    for (int which = 0; which < 2; which++)
        for (int k = 0; k < M * M; k++)
            ((float *)own[which])[k] = (float)((k * 31 + rank * 17 + which) % 5 - 2);
    memset(own[2], 0, M * M * sizeof(float));
}

static void run_cannon(const rounds_case *of, void *const *own) {
    (void)of;
    cannon_by_hand(MPI_COMM_WORLD, M, own[0], own[1], own[2]);
}

rounds_case rounds_cannon(void) {
    const rounds_array block = {"A", POLYTILE_F32, 3, {Q * Q, M, M}};
    rounds_case made = {
        .subject = "cannon 512x512, 2x2 ranks",
        .launch = {.declaration = CANNON_DECLARATION,
                   .implementation = cannon_implementation(),
                   .layout = "block(dim=0)",
                   .n_parameters = 1,
                   .parameter = POLYTILE_PARAMETER("q", Q),
                   .n_arrays = 3,
                   .arrays = {block, block, block}},
        .n_arrays = 3,
        .fill = fill_cannon,
        .by_hand = run_cannon,
        .slots_sources = {"examples/cannon_kernels.c", "bench/mpi/rounds/slots.c"},
        .by_hand_sources = {"bench/mpi/rounds/cannon_by_hand.c"},
    };
    for (int a = 0; a < made.n_arrays; a++)
        made.n_bytes[a] = M * M * (int64_t)sizeof(float);
    made.launch.arrays[1].name = "B";
    made.launch.arrays[2].name = "C";
    return made;
}

/** Whole numbers of thousandths, which look random; masses are positive. */
static void fill_nbody(const rounds_case *of, int rank, void *const *own) {
    const unsigned n = (unsigned)of->n * NBODY_FIELDS;
    float *body = own[0];
    (void)rank;
    for (unsigned k = 0; k < n; k++)
        body[k] = (float)(k * 2654435761U % 2001) / 1000 - 1;
    for (unsigned k = NBODY_MASS; k < n; k += NBODY_FIELDS)
        body[k] = body[k] * body[k] + 0.001f;
    memset(own[1], 0, n * sizeof(float));
}

static void run_nbody(const rounds_case *of, void *const *own) {
    nbody_by_hand(MPI_COMM_WORLD, of->n, N_STEPS, own[0], own[1]);
}

rounds_case rounds_nbody(int n_ranks, int n) {
    const int64_t n_bytes = n * NBODY_FIELDS * (int64_t)sizeof(float);
    rounds_case made = {
        .n = n,
        .launch = {.declaration = NBODY_DECLARATION,
                   .implementation = nbody_implementation(),
                   .layout = "block(dim=0)",
                   .n_parameters = 1,
                   .parameter = POLYTILE_PARAMETER("steps", (int64_t)N_STEPS),
                   .n_arrays = 2,
                   .arrays = {{"body", POLYTILE_F32, 3, {n_ranks, n, NBODY_FIELDS}},
                              {"velocity", POLYTILE_F32, 3, {n_ranks, n, NBODY_FIELDS}}}},
        .n_arrays = 2,
        .n_bytes = {n_bytes, n_bytes},
        .fill = fill_nbody,
        .by_hand = run_nbody,
        .slots_sources = {"examples/nbody_kernels.c", "bench/mpi/rounds/slots.c"},
        .by_hand_sources = {"bench/mpi/rounds/nbody_by_hand.c"},
    };
    snprintf(made.subject, sizeof made.subject, "nbody %d, %d steps, %d ranks", n, N_STEPS,
             n_ranks);
    return made;
}

enum { ROW, WORK, IMAGE };

/** No slot has a row yet. */
static void fill_mandelbrot(const rounds_case *of, int rank, void *const *own) {
    const int64_t n_slots = of->launch.arrays[WORK].extents[0] / N_WORKERS;
    (void)rank;
    for (int64_t slot = 0; slot < n_slots; slot++)
        ((int32_t *)own[WORK])[slot] = NO_ROW;
    memset(own[IMAGE], 0, (size_t)of->n_bytes[IMAGE]);
}

static void run_mandelbrot(const rounds_case *of, void *const *own) {
    mandelbrot_by_hand(MPI_COMM_WORLD, &(mandelbrot_request){of->n, 1, mandelbrot_rows}, own[ROW],
                       own[IMAGE]);
}

static void run_mandelbrot_split(const rounds_case *of, void *const *own) {
    mandelbrot_split_by_hand(MPI_COMM_WORLD, of->n, own[IMAGE]);
}

/** Of an image of n rows, and so many slots a worker. */
static rounds_case make_mandelbrot(int n, int64_t n_slots) {
    const int64_t n_bytes = sizeof(int32_t);
    rounds_case made = {
        .n = n,
        .launch = {.declaration = MANDELBROT_ASK_DECLARATION,
                   .implementation = mandelbrot_ask_implementation(),
                   .layout = "weighted(0,1,1,1)",
                   .n_arrays = 2,
                   .arrays = {{"row", POLYTILE_I32, 2, {N_WORKERS * n_slots, n}},
                              {"work", POLYTILE_I32, 1, {N_WORKERS * n_slots}}}},
        .n_arrays = 3,
        .n_bytes = {n_slots * n * n_bytes, n_slots * n_bytes, n * n * n_bytes},
        .fill = fill_mandelbrot,
        .by_master = true,
        .slots_sources = {"examples/mandelbrot_kernels.c", "bench/mpi/rounds/slots.c",
                          "bench/mpi/rounds/mandelbrot_master.c"},
        .by_hand_sources = {"bench/mpi/rounds/mandelbrot_by_hand.c"},
    };
    snprintf(made.subject, sizeof made.subject, "mandelbrot %dx%d, 3 ranks and a master", n, n);
    return made;
}

rounds_case rounds_mandelbrot(void) {
    rounds_case made = make_mandelbrot(N_ROWS, 1);
    made.by_hand = run_mandelbrot;
    made.other = run_mandelbrot_split;
    made.other_name = "static_split";
    made.other_target = 1.3;
    return made;
}

enum { N_GPU_ROWS = 1024, N_GPU_SLOTS = 128, N_BAND_ROWS = 16 };

static int n_gpus_used;
static int32_t *gpu_rows;

static void begin_gpu(int rank) {
    if (rank > 0)
        gpu_rows = mandelbrot_gpu_begin((rank - 1) % n_gpus_used, N_BAND_ROWS * N_GPU_ROWS);
}

static void end_gpu(int rank) {
    if (rank > 0)
        mandelbrot_gpu_end(gpu_rows);
}

static void run_gpu_by_rows(const rounds_case *of, void *const *own) {
    mandelbrot_by_hand(MPI_COMM_WORLD, &(mandelbrot_request){of->n, 1, mandelbrot_gpu_rows},
                       gpu_rows, own[IMAGE]);
}

static void run_gpu_by_bands(const rounds_case *of, void *const *own) {
    mandelbrot_by_hand(MPI_COMM_WORLD,
                       &(mandelbrot_request){of->n, N_BAND_ROWS, mandelbrot_gpu_rows}, gpu_rows,
                       own[IMAGE]);
}

rounds_case rounds_mandelbrot_on_gpus(int n_gpus) {
    rounds_case made = make_mandelbrot(N_GPU_ROWS, N_GPU_SLOTS);
    n_gpus_used = n_gpus;
    made.begin_by_hand = begin_gpu;
    made.end_by_hand = end_gpu;
    made.by_hand = run_gpu_by_rows;
    made.other = run_gpu_by_bands;
    made.other_name = "by_hand_16_rows";
    made.by_hand_sources[1] = "bench/mpi/rounds/mandelbrot_gpu_by_hand.cu";
    return made;
}
