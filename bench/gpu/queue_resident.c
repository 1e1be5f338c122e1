/* Steps on data that stays on the GPU, through a queue and launched by hand. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"
#include "jacobi_kernels.h"

enum { EXTENT = 16384, N_STEPS = 100, N_FIELDS = 2 };
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t array_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

/** The same two fields twice: those of the queue, and those of the launches by hand. */
typedef struct steps {
    float *queued[N_FIELDS];
    float *by_hand; /* the first field's result */
    float *device[N_FIELDS];
    cudaStream_t stream;
    queue_stage stage;
} steps;

static double time_queue(void *subject) {
    const steps *s = subject;
    polytile_array *const *arrays = s->stage.arrays;
    polytile_array *const turns[][N_FIELDS] = {{arrays[0], arrays[1]}, {arrays[1], arrays[0]}};
    double start_s = bench_now_s();
    for (int k = 0; k < N_STEPS; k++)
        queue_stage_launch(&s->stage, POLYTILE_INTERIOR(1, EXTENT, EXTENT), turns[k % 2]);
    queue_stage_wait(&s->stage);
    return bench_now_s() - start_s;
}

static void step_by_hand(const steps *s, int from) {
    int64_t n = EXTENT;
    void *arguments[] = {(void *)&s->device[from], (void *)&s->device[1 - from], &n};
    dim3 block = {32, 8, 1};
    dim3 grid = {EXTENT / 32, EXTENT / 8, 1};
    GPU_CALL(cudaLaunchKernel(gpu_plain_jacobi(), grid, block, arguments, 0, s->stream));
}

static double time_by_hand(void *subject) {
    const steps *s = subject;
    double start_s = bench_now_s();
    for (int k = 0; k < N_STEPS; k++)
        step_by_hand(s, k % 2);
    GPU_CALL(cudaStreamSynchronize(s->stream));
    return bench_now_s() - start_s;
}

static void create(steps *s) {
    const int64_t extents[] = {EXTENT, EXTENT};
    queue_stage_open(&s->stage, 3 * array_bytes, JACOBI_DECLARATION, jacobi_f32_implementation());
    GPU_CALL(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    for (int f = 0; f < N_FIELDS; f++) {
        s->queued[f] = gpu_allocate_pinned(array_bytes);
        gpu_fill_random(s->queued[f], n_elements, 8 + (uint64_t)f);
        GPU_CALL(cudaMalloc((void **)&s->device[f], (size_t)array_bytes));
        GPU_CALL(
            cudaMemcpy(s->device[f], s->queued[f], (size_t)array_bytes, cudaMemcpyHostToDevice));
        queue_stage_wrap(&s->stage, 2, extents, s->queued[f]);
    }
    s->by_hand = gpu_allocate_pinned(array_bytes);
    queue_stage_attach(&s->stage);
}

static void check_steps(const steps *s) {
    GPU_CALL(cudaMemcpy(s->by_hand, s->device[0], (size_t)array_bytes, cudaMemcpyDeviceToHost));
    gpu_require_equal("A", s->queued[0], s->by_hand, n_elements);
}

/** Each array in once and out once, whatever the number of steps. */
static void report_bytes(const steps *s) {
    bench_times moved = {0};
    polytile_report report = queue_stage_report(&s->stage);
    bench_add_time(&moved, 1e-9 * (double)(report.h2d_bytes + report.d2h_bytes));
    gpu_report_fixed("GB",
                     &(gpu_comparison){.name = "queue, what all these steps moved",
                                       .against = "each array in and out once",
                                       .ours = &moved,
                                       .relation = BENCH_AT_MOST,
                                       .target = 1.0},
                     1e-9 * 2.0 * N_FIELDS * (double)array_bytes);
}

void queue_resident(void) {
    steps s = {0};
    bench_times queued = {0}, by_hand = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&s);
    gpu_alternate(time_queue, time_by_hand, &s, &queued, &by_hand);
    gpu_report(&(gpu_comparison){.name = "queue, 100 resident steps of 16384^2",
                                 .against = "plain CUDA launches",
                                 .ours = &queued,
                                 .rival = &by_hand,
                                 .relation = BENCH_AT_MOST,
                                 .target = 1.02});
    queue_stage_detach(&s.stage);
    check_steps(&s);
    report_bytes(&s);
}
