/* Steps of Jacobi on fields that stay on the GPU, several a kernel in tiles by hand, against a
 * plain launch a step: what the library should come to. */
#include "gpu/tiles.h"

#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"

enum { EXTENT = 16384, N_STEPS = 200, N_FIELDS = 2, SEED = 41 };
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t field_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

/** Both ways have two fields of their own, which begin alike and go through as many steps. */
typedef enum way { IN_TILES, PLAIN, N_WAYS } way;

typedef struct contest {
    float *host[N_WAYS][N_FIELDS];
    float *field[N_WAYS][N_FIELDS];
    cudaStream_t stream;
} contest;

static void step_plainly(const contest *c, way by, int step) {
    int64_t n = EXTENT;
    void *arguments[] = {(void *)&c->field[by][step % 2], (void *)&c->field[by][1 - step % 2], &n};
    dim3 block = {32, 8, 1};
    dim3 grid = {EXTENT / 32, EXTENT / 8, 1};
    GPU_CALL(cudaLaunchKernel(gpu_plain_jacobi(), grid, block, arguments, 0, c->stream));
}

/** The last two steps are launches of their own, so that both fields have what their last step
 * wrote. */
static double time_tiles(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    int step = 0;
    for (; step + TILES_N_STEPS + 2 <= N_STEPS; step += TILES_N_STEPS)
        GPU_CALL(gpu_tiles_launch(c->field[IN_TILES][step % 2], c->field[IN_TILES][1 - step % 2],
                                  EXTENT, c->stream));
    for (; step < N_STEPS; step++)
        step_plainly(c, IN_TILES, step);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    return bench_now_s() - start_s;
}

static double time_plain(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    for (int step = 0; step < N_STEPS; step++)
        step_plainly(c, PLAIN, step);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    return bench_now_s() - start_s;
}

static void create(contest *c) {
    GPU_CALL(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    for (int w = 0; w < N_WAYS; w++)
        for (int f = 0; f < N_FIELDS; f++) {
            c->host[w][f] = gpu_allocate_pinned(field_bytes);
            gpu_fill_random(c->host[w][f], n_elements, SEED + (uint64_t)f);
            GPU_CALL(cudaMalloc((void **)&c->field[w][f], (size_t)field_bytes));
            GPU_CALL(cudaMemcpy(c->field[w][f], c->host[w][f], (size_t)field_bytes,
                                cudaMemcpyHostToDevice));
        }
}

static void check_same(const contest *c) {
    for (int f = 0; f < N_FIELDS; f++) {
        for (int w = 0; w < N_WAYS; w++)
            GPU_CALL(cudaMemcpy(c->host[w][f], c->field[w][f], (size_t)field_bytes,
                                cudaMemcpyDeviceToHost));
        gpu_require_same_bits("the field", c->host[IN_TILES][f], c->host[PLAIN][f], n_elements);
    }
}

void tiles_by_hand(void) {
    contest c = {0};
    bench_times in_tiles = {0}, plain = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    gpu_alternate_few(5, time_tiles, time_plain, &c, &in_tiles, &plain);
    check_same(&c);
    gpu_report(&(gpu_comparison){.name = "jacobi 16384^2, 200 steps in tiles by hand",
                                 .against = "plain CUDA launches",
                                 .ours = &in_tiles,
                                 .rival = &plain});
}
