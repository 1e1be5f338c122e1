/* Ten thousand short sub-kernels on resident data against a loop of raw launches. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/problem.h"

#include <string.h>

/** A sub-kernel is a block of threads on each of an H200's 132 multiprocessors. */
enum {
    N_KERNELS = 10000,
    PIECE = 132 * GPU_PLAIN_BLOCK,
    N_BUFFERS = 3,
    MAX_X = 1 << 16,
};

static const int64_t n_elements = (int64_t)N_KERNELS * PIECE;
static const int64_t piece_bytes = (int64_t)PIECE * (int64_t)sizeof(float);
static const double kernel_s = 15e-6;

typedef struct gather {
    float *x, *y;
    int64_t n_x; /* so many that a sub-kernel takes kernel_s */
    float *device_x;
    float *device_y[N_BUFFERS];
    cudaStream_t stream;
    cudaEvent_t start, stop;
    problem launch;
} gather;

static void launch_piece(const gather *g, int64_t k) {
    int64_t lo = k * PIECE, hi = lo + PIECE - 1;
    polytile_domain threads = polytile_domain_from_bounds(1, &lo, &hi);
    polytile_view views[] = {gpu_view(g->device_x, 0, g->n_x - 1),
                             gpu_view(g->device_y[k % N_BUFFERS], lo, hi)};
    gpu_launch(gpu_gather()->cuda_contiguous, &threads, 2, views, g->stream);
}

static double time_raw(void *subject) {
    const gather *g = subject;
    double start_s = bench_now_s();
    for (int64_t k = 0; k < N_KERNELS; k++)
        launch_piece(g, k);
    GPU_CALL(cudaStreamSynchronize(g->stream));
    return bench_now_s() - start_s;
}

/** What the kernel gives for an index: sum[i % GATHER_WEIGHTS] + i % GATHER_PERIOD. */
static void sum_by_weight(const gather *g, float *sum) {
    memset(sum, 0, GATHER_WEIGHTS * sizeof *sum);
    for (int first = 0; first < GATHER_WEIGHTS; first++)
        for (int64_t k = 0; k < g->n_x; k++)
            sum[first] += g->x[k] * (float)((first + k) % GATHER_WEIGHTS);
}

static void check_gathered(const gather *g) {
    float sum[GATHER_WEIGHTS];
    const float *y = g->y;
    int64_t first_wrong = n_elements;
    sum_by_weight(g, sum);
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t i = 0; i < n_elements; i++) {
        if (!(y[i] == sum[i % GATHER_WEIGHTS] + (float)(i % GATHER_PERIOD)))
            first_wrong = i < first_wrong ? i : first_wrong;
    }
    gpu_require_all_right("y", y, first_wrong, n_elements);
}

static double time_library(void *subject) {
    gather *g = subject;
    gpu_poison(g->y, n_elements);
    double taken_s = problem_run(&g->launch);
    check_gathered(g);
    return taken_s;
}

/** Seconds of one raw launch among many. */
static double time_one_kernel(const gather *g) {
    enum { N_TIMED = 200 };
    float taken_ms;
    for (int64_t k = 0; k < N_TIMED; k++)
        launch_piece(g, k);
    GPU_CALL(cudaEventRecord(g->start, g->stream));
    for (int64_t k = 0; k < N_TIMED; k++)
        launch_piece(g, k);
    GPU_CALL(cudaEventRecord(g->stop, g->stream));
    GPU_CALL(cudaStreamSynchronize(g->stream));
    GPU_CALL(cudaEventElapsedTime(&taken_ms, g->start, g->stop));
    return 1e-3 * (double)taken_ms / N_TIMED;
}

/** Find the length of x, on which a launch's time depends linearly, from two lengths that are both
 * long enough to hide what a launch costs the host. */
static void calibrate(gather *g) {
    enum { SHORT_X = 2048, LONG_X = 8192 };
    g->n_x = SHORT_X;
    double short_s = time_one_kernel(g);
    g->n_x = LONG_X;
    double element_s = (time_one_kernel(g) - short_s) / (LONG_X - SHORT_X);
    double n_x = SHORT_X + (kernel_s - short_s) / element_s;
    if (!(n_x >= 1.0 && n_x <= MAX_X))
        gpu_fail("no length of x makes a kernel of 15 us: one takes %.2g us and %.2g ns an element",
                 1e6 * short_s, 1e9 * element_s);
    g->n_x = (int64_t)n_x;
}

static void create(gather *g) {
    g->x = gpu_allocate_pinned(MAX_X * (int64_t)sizeof(float));
    g->y = gpu_allocate_pinned(n_elements * (int64_t)sizeof(float));
    gpu_fill_whole_numbers(g->x, MAX_X, 5);
    GPU_CALL(cudaMalloc((void **)&g->device_x, MAX_X * sizeof(float)));
    GPU_CALL(cudaMemcpy(g->device_x, g->x, MAX_X * sizeof(float), cudaMemcpyHostToDevice));
    for (int b = 0; b < N_BUFFERS; b++)
        GPU_CALL(cudaMalloc((void **)&g->device_y[b], (size_t)piece_bytes));
    GPU_CALL(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking));
    GPU_CALL(cudaEventCreate(&g->start));
    GPU_CALL(cudaEventCreate(&g->stop));
}

/** A limit that holds x and, in each buffer, one piece of y but not a block more. */
static void plan(gather *g) {
    const int64_t block = GPU_PLAIN_BLOCK;
    const int64_t x_bytes = g->n_x * (int64_t)sizeof(float);
    const polytile_launch_options options = {.plan.limit_bytes = x_bytes + N_BUFFERS * piece_bytes +
                                                                 block * (int64_t)sizeof(float),
                                             .plan.n_buffers = N_BUFFERS,
                                             .plan.block = &block};
    problem_open(&g->launch, 256 << 20, GATHER_DECLARATION, gpu_gather());
    problem_wrap(&g->launch, 1, &g->n_x, g->x);
    problem_wrap(&g->launch, 1, &n_elements, g->y);
    problem_plan(&g->launch, POLYTILE_EXTENTS(n_elements), &options);
    if (g->launch.summary.n_kernels != N_KERNELS)
        gpu_fail("the plan has %lld sub-kernels instead of %d",
                 (long long)g->launch.summary.n_kernels, N_KERNELS);
}

void small_kernels(void) {
    gather g = {0};
    bench_times library = {0}, raw = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&g);
    calibrate(&g);
    plan(&g);
    gpu_alternate(time_library, time_raw, &g, &library, &raw);
    gpu_report(&(gpu_comparison){"10,000 sub-kernels of 15 us", "loop of raw launches", &library,
                                 &raw, BENCH_AT_MOST, 1.05, g.launch.plan_s});
}
