/* A resident Jacobi on several GPUs of one host, whose borders travel between them, against one of
 * them, and on two against plain CUDA launches on one. On a host with one GPU there is nothing to
 * compare, and no row. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/several.h"
#include "jacobi_kernels.h"

enum { EXTENT = 32768, N_STEPS = 1000, N_FIELDS = 2, N_SIDES = 2, N_REPETITIONS = 3 };

/** Sides: one GPU, and several. */
typedef struct steps {
    float *field[N_SIDES][N_FIELDS]; /* pinned */
    queue_stage stage[N_SIDES];
} steps;

static double time_steps(const queue_stage *s) {
    polytile_array *const turns[][N_FIELDS] = {{s->arrays[0], s->arrays[1]},
                                               {s->arrays[1], s->arrays[0]}};
    double start_s = bench_now_s();
    for (int k = 0; k < N_STEPS; k++)
        queue_stage_launch(s, POLYTILE_INTERIOR(1, EXTENT, EXTENT), turns[k % 2]);
    queue_stage_wait(s);
    return bench_now_s() - start_s;
}

static double time_one(void *subject) {
    return time_steps(&((steps *)subject)->stage[0]);
}

static double time_several(void *subject) {
    return time_steps(&((steps *)subject)->stage[1]);
}

static void open_side(steps *s, int side, int n_gpus) {
    const int64_t extents[] = {EXTENT, EXTENT};
    const int64_t n_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);
    several_open(&s->stage[side], n_gpus, 3 * n_bytes, JACOBI_DECLARATION,
                 jacobi_f32_implementation());
    for (int f = 0; f < N_FIELDS; f++) {
        if (s->field[side][f] == NULL)
            s->field[side][f] = gpu_allocate_pinned(n_bytes);
        gpu_fill_random(s->field[side][f], (int64_t)EXTENT * EXTENT, 8 + (uint64_t)f);
        queue_stage_wrap(&s->stage[side], 2, extents, s->field[side][f]);
    }
    queue_stage_attach(&s->stage[side]);
}

/** Time the same steps on one GPU by plain launches, once, after a few that do not count. */
static double time_plain(void) {
    enum { N_FIRST = 10 };
    const size_t n_bytes = (size_t)EXTENT * EXTENT * sizeof(float);
    float *device[N_FIELDS];
    int64_t n = EXTENT;
    double start_s = 0.0;
    for (int f = 0; f < N_FIELDS; f++) {
        GPU_CALL(cudaMalloc((void **)&device[f], n_bytes));
        GPU_CALL(cudaMemset(device[f], 0, n_bytes));
    }
    for (int k = 0; k < N_FIRST + N_STEPS; k++) {
        void *arguments[] = {(void *)&device[k % 2], (void *)&device[1 - k % 2], &n};
        if (k == N_FIRST) {
            GPU_CALL(cudaDeviceSynchronize());
            start_s = bench_now_s();
        }
        GPU_CALL(cudaLaunchKernel(gpu_plain_jacobi(), (dim3){EXTENT / 32, EXTENT / 8, 1},
                                  (dim3){32, 8, 1}, arguments, 0, NULL));
    }
    GPU_CALL(cudaDeviceSynchronize());
    double taken_s = bench_now_s() - start_s;
    for (int f = 0; f < N_FIELDS; f++)
        GPU_CALL(cudaFree(device[f]));
    return taken_s;
}

static void report_plain(const bench_times *two) {
    bench_times plain = {0};
    bench_add_time(&plain, time_plain());
    gpu_report(&(gpu_comparison){"jacobi 32768^2 resident, 1000 steps, 2 GPUs", "plain CUDA on one",
                                 two, &plain, BENCH_AT_LEAST, 5.0, 0.0});
}

static void compare(steps *s, int n_gpus) {
    bench_times several = {0}, one = {0};
    char name[56];
    open_side(s, 0, 1);
    open_side(s, 1, n_gpus);
    gpu_alternate_few(N_REPETITIONS, time_several, time_one, s, &several, &one);
    for (int side = 0; side < N_SIDES; side++)
        queue_stage_detach(&s->stage[side]);
    gpu_require_equal("A", s->field[1][0], s->field[0][0], (int64_t)EXTENT * EXTENT);
    snprintf(name, sizeof name, "jacobi 32768^2 resident, 1000 steps, %d GPUs", n_gpus);
    gpu_report(&(gpu_comparison){name, "one GPU", &several, &one, BENCH_AT_LEAST,
                                 n_gpus <= 2 ? 1.9 : 3.6, 0.0});
    if (n_gpus == 2)
        report_plain(&several);
    for (int side = 0; side < N_SIDES; side++)
        queue_stage_close(&s->stage[side]);
}

void several_jacobi(void) {
    steps s = {0};
    if (several_next(1) == 0)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    for (int n_gpus = several_next(1); n_gpus > 0; n_gpus = several_next(n_gpus))
        compare(&s, n_gpus);
}
