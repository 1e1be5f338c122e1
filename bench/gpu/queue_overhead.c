/* What a launch costs the two threads of a queue, when the kernel's own time is nothing. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"
#include "vector_add_kernels.h"

#include <stdlib.h>

enum { N_ELEMENTS = 1024, N_BATCHES = 11, N_CALLS = 1000, N_STEADY = 41 };
enum { X, Y, Z, N_ARRAYS };

static const int64_t n_elements = N_ELEMENTS;

/** Seconds that enqueueing a launch and planning one may take. */
static const double most_enqueue_s = 5e-6, most_plan_s = 20e-6;

typedef struct small_add {
    float *host[N_ARRAYS];
    polytile_view views[N_ARRAYS]; /* of device memory, for launches by hand */
    cudaStream_t stream;
    queue_stage stage;
} small_add;

static void launch_queued(const small_add *a) {
    queue_stage_launch(&a->stage, POLYTILE_EXTENTS(N_ELEMENTS), NULL);
}

static void launch_by_hand(const small_add *a) {
    polytile_view views[N_ARRAYS] = {a->views[X], a->views[Y], a->views[Z]};
    gpu_launch(add_f32_implementation()->cuda_contiguous, POLYTILE_EXTENTS(N_ELEMENTS), N_ARRAYS,
               views, a->stream);
}

static void wait_for_both(const small_add *a) {
    queue_stage_wait(&a->stage);
    GPU_CALL(cudaStreamSynchronize(a->stream));
}

/** Of calls that were timed one by one, and of all of them to their end. */
typedef struct call_times {
    bench_times median, p99, whole;
} call_times;

static int compare_numbers(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void time_batch(const small_add *a, void (*launch)(const small_add *), call_times *times) {
    double taken_s[N_CALLS], begin_s = bench_now_s();
    for (int k = 0; k < N_CALLS; k++) {
        double start_s = bench_now_s();
        launch(a);
        taken_s[k] = bench_now_s() - start_s;
    }
    wait_for_both(a);
    bench_add_time(&times->whole, (bench_now_s() - begin_s) / N_CALLS);
    qsort(taken_s, N_CALLS, sizeof *taken_s, compare_numbers);
    bench_add_time(&times->median, taken_s[N_CALLS / 2]);
    bench_add_time(&times->p99, taken_s[N_CALLS * 99 / 100]);
}

/** Seconds of both threads for one launch that nothing else is planned with. */
static double time_planning(const small_add *a) {
    launch_queued(a);
    queue_stage_wait(&a->stage);
    polytile_report report = queue_stage_report(&a->stage);
    return report.enqueue_s + report.plan_s;
}

static void report_planning(const small_add *a) {
    bench_times first = {0}, second = {0}, steady = {0};
    bench_add_time(&first, time_planning(a));
    bench_add_time(&second, time_planning(a));
    for (int k = 0; k < N_STEADY; k++)
        bench_add_time(&steady, time_planning(a));
    gpu_report_fixed("s",
                     &(gpu_comparison){.name = "queue, planning the first launch",
                                       .against = "20 us",
                                       .ours = &first},
                     most_plan_s);
    gpu_report_fixed("s",
                     &(gpu_comparison){.name = "queue, planning the second",
                                       .against = "20 us",
                                       .ours = &second,
                                       .relation = BENCH_AT_MOST,
                                       .target = 1.0},
                     most_plan_s);
    gpu_report_fixed("s",
                     &(gpu_comparison){.name = "queue, planning later ones",
                                       .against = "20 us",
                                       .ours = &steady,
                                       .relation = BENCH_AT_MOST,
                                       .target = 1.0},
                     most_plan_s);
}

static void report_calls(const call_times *queued, const call_times *by_hand) {
    gpu_report_fixed("s",
                     &(gpu_comparison){.name = "queue, enqueueing, median call",
                                       .against = "5 us",
                                       .ours = &queued->median,
                                       .relation = BENCH_AT_MOST,
                                       .target = 1.0},
                     most_enqueue_s);
    gpu_report_fixed("s",
                     &(gpu_comparison){.name = "queue, enqueueing, 99th percentile",
                                       .against = "5 us",
                                       .ours = &queued->p99},
                     most_enqueue_s);
    gpu_report(&(gpu_comparison){.name = "queue, enqueueing, median call",
                                 .against = "cudaLaunchKernel",
                                 .ours = &queued->median,
                                 .rival = &by_hand->median});
    gpu_report(&(gpu_comparison){.name = "queue, a small launch of many, to its end",
                                 .against = "cudaLaunchKernel",
                                 .ours = &queued->whole,
                                 .rival = &by_hand->whole});
}

static void create(small_add *a) {
    const int64_t n_bytes = N_ELEMENTS * (int64_t)sizeof(float);
    queue_stage_open(&a->stage, INT64_C(1) << 28, ADD_DECLARATION, add_f32_implementation());
    for (int k = 0; k < N_ARRAYS; k++) {
        float *memory;
        a->host[k] = gpu_allocate_pinned(n_bytes);
        gpu_fill_random(a->host[k], n_elements, (uint64_t)k);
        GPU_CALL(cudaMalloc((void **)&memory, (size_t)n_bytes));
        a->views[k] = gpu_view(memory, 0, N_ELEMENTS - 1);
        queue_stage_wrap(&a->stage, 1, &n_elements, a->host[k]);
    }
    GPU_CALL(cudaStreamCreateWithFlags(&a->stream, cudaStreamNonBlocking));
    queue_stage_attach(&a->stage);
}

void queue_overhead(void) {
    small_add a = {0};
    call_times queued = {0}, by_hand = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&a);
    report_planning(&a);
    for (int k = 0; k < N_BATCHES; k++) {
        time_batch(&a, launch_queued, &queued);
        time_batch(&a, launch_by_hand, &by_hand);
    }
    report_calls(&queued, &by_hand);
    queue_stage_detach(&a.stage);
    gpu_require_sums(a.host[X], a.host[Y], a.host[Z], n_elements);
}
