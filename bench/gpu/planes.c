/* Steps of Jacobi in three dimensions on fields that stay on the GPU, several a kernel by hand,
 * against a plain launch a step: whether tiles of several steps would pay there. */
#include "gpu/planes.h"

#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"

enum { EXTENT = 640, N_STEPS = 60, N_FIELDS = 2, SEED = 43 };
static const int64_t n_elements = (int64_t)EXTENT * EXTENT * EXTENT;
static const int64_t field_bytes = (int64_t)EXTENT * EXTENT * EXTENT * (int64_t)sizeof(float);

/** Both ways have two fields of their own, which begin alike and go through as many steps. */
typedef enum way { STREAMED, PLAIN, N_WAYS } way;

typedef struct contest {
    int n_together;
    float *host[N_WAYS][N_FIELDS];
    float *field[N_WAYS][N_FIELDS];
    cudaStream_t stream;
} contest;

static void step_plainly(const contest *c, way by, int step) {
    int64_t n = EXTENT;
    void *arguments[] = {(void *)&c->field[by][step % 2], (void *)&c->field[by][1 - step % 2], &n};
    dim3 block = {32, 8, 1};
    dim3 grid = {EXTENT / 32, EXTENT / 8, EXTENT - 2};
    GPU_CALL(cudaLaunchKernel(gpu_plain_jacobi3d(), grid, block, arguments, 0, c->stream));
}

/** The last steps are launches of their own, so that both fields have what their last step
 * wrote. */
static double time_streamed(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    int step = 0;
    for (; step + c->n_together + 2 <= N_STEPS; step += c->n_together)
        GPU_CALL(gpu_planes_launch(c->field[STREAMED][step % 2], c->field[STREAMED][1 - step % 2],
                                   EXTENT, c->n_together, c->stream));
    for (; step < N_STEPS; step++)
        step_plainly(c, STREAMED, step);
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
        gpu_require_same_bits("the field", c->host[STREAMED][f], c->host[PLAIN][f], n_elements);
    }
}

static void compare(const char *name, int n_together) {
    contest c = {.n_together = n_together};
    bench_times streamed = {0}, plain = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c);
    gpu_alternate_few(5, time_streamed, time_plain, &c, &streamed, &plain);
    check_same(&c);
    gpu_report(&(gpu_comparison){
        .name = name, .against = "plain CUDA launches", .ours = &streamed, .rival = &plain});
}

void planes_by_hand_few(void) {
    compare("jacobi 640^3, 60 steps, 3 a kernel by hand", PLANES_FEW_STEPS);
}

void planes_by_hand_many(void) {
    compare("jacobi 640^3, 60 steps, 5 a kernel by hand", PLANES_MANY_STEPS);
}
