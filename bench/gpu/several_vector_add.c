/* Vector addition on several GPUs of one host, bound by their links, whose ceiling is copies both
 * ways of all of them at once. On a host with one GPU there is nothing to compare, and no row. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/several.h"
#include "vector_add_kernels.h"

enum { N_REPETITIONS = 5 };

static const int64_t n_elements = INT64_C(1000000000);

typedef struct vectors {
    int n_gpus;
    float *field[3];
    void *device[SEVERAL_MOST_GPUS][3];
    cudaStream_t in[SEVERAL_MOST_GPUS], out[SEVERAL_MOST_GPUS];
    queue_stage stage;
} vectors;

static int64_t share_bytes(const vectors *v) {
    return n_elements / v->n_gpus * (int64_t)sizeof(float);
}

static void prepare_gpu(vectors *v, int g) {
    GPU_CALL(cudaSetDevice(g));
    for (int a = 0; a < 3; a++)
        GPU_CALL(cudaMalloc(&v->device[g][a], (size_t)share_bytes(v)));
    GPU_CALL(cudaStreamCreateWithFlags(&v->in[g], cudaStreamNonBlocking));
    GPU_CALL(cudaStreamCreateWithFlags(&v->out[g], cudaStreamNonBlocking));
}

static void *part_of(const vectors *v, int field, int g) {
    return (char *)v->field[field] + g * share_bytes(v);
}

static void begin_copies(const vectors *v, int g) {
    size_t n_bytes = (size_t)share_bytes(v);
    GPU_CALL(cudaSetDevice(g));
    for (int a = 0; a < 2; a++)
        GPU_CALL(cudaMemcpyAsync(v->device[g][a], part_of(v, a, g), n_bytes, cudaMemcpyHostToDevice,
                                 v->in[g]));
    GPU_CALL(cudaMemcpyAsync(part_of(v, 2, g), v->device[g][2], n_bytes, cudaMemcpyDeviceToHost,
                             v->out[g]));
}

static double time_copies(void *subject) {
    const vectors *v = subject;
    double start_s = bench_now_s();
    for (int g = 0; g < v->n_gpus; g++)
        begin_copies(v, g);
    for (int g = 0; g < v->n_gpus; g++) {
        GPU_CALL(cudaStreamSynchronize(v->in[g]));
        GPU_CALL(cudaStreamSynchronize(v->out[g]));
    }
    return bench_now_s() - start_s;
}

static double time_addition(void *subject) {
    const vectors *v = subject;
    gpu_poison(v->field[2], n_elements);
    double start_s = bench_now_s();
    queue_stage_attach(&v->stage);
    queue_stage_launch(&v->stage, POLYTILE_EXTENTS(n_elements), NULL);
    queue_stage_detach(&v->stage);
    double taken_s = bench_now_s() - start_s;
    gpu_require_sums(v->field[0], v->field[1], v->field[2], n_elements);
    return taken_s;
}

static void free_gpu(vectors *v, int g) {
    GPU_CALL(cudaSetDevice(g));
    for (int a = 0; a < 3; a++)
        GPU_CALL(cudaFree(v->device[g][a]));
    GPU_CALL(cudaStreamDestroy(v->in[g]));
    GPU_CALL(cudaStreamDestroy(v->out[g]));
}

static void compare(vectors *v) {
    bench_times ours = {0}, copies = {0};
    char name[56];
    several_open(&v->stage, v->n_gpus, 3 * n_elements * (int64_t)sizeof(float) / 8, ADD_DECLARATION,
                 add_f32_implementation());
    for (int a = 0; a < 3; a++)
        queue_stage_wrap(&v->stage, 1, &n_elements, v->field[a]);
    for (int g = 0; g < v->n_gpus; g++)
        prepare_gpu(v, g);
    gpu_alternate_few(N_REPETITIONS, time_addition, time_copies, v, &ours, &copies);
    snprintf(name, sizeof name, "vector add, %d GPUs, limit 1/8", v->n_gpus);
    gpu_report(&(gpu_comparison){name, "plain copies both ways, all GPUs", &ours, &copies,
                                 BENCH_AT_LEAST, 0.97, 0.0});
    for (int g = 0; g < v->n_gpus; g++)
        free_gpu(v, g);
    queue_stage_close(&v->stage);
}

void several_vector_add(void) {
    vectors v = {0};
    if (several_next(1) == 0)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    for (int a = 0; a < 3; a++) {
        v.field[a] = gpu_allocate_pinned(n_elements * (int64_t)sizeof(float));
        gpu_fill_random(v.field[a], n_elements, (uint64_t)a + 1);
    }
    for (v.n_gpus = several_next(1); v.n_gpus > 0; v.n_gpus = several_next(v.n_gpus))
        compare(&v);
}
