/* A sub-kernel on data that is all resident against the same kernel launched by hand. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/problem.h"
#include "vector_add_kernels.h"

static const int64_t n_elements = 1 << 28;
static const int64_t array_bytes = (int64_t)sizeof(float) << 28;

enum { X, Y, Z, N_ARRAYS };

typedef struct resident_add {
    float *host[N_ARRAYS];
    float *device[N_ARRAYS];
    cudaStream_t stream;
    cudaEvent_t start, stop;
    problem launch;
} resident_add;

static double time_library(void *subject) {
    resident_add *r = subject;
    polytile_report report;
    gpu_poison(r->host[Z], n_elements);
    problem_run(&r->launch);
    gpu_require_sums(r->host[X], r->host[Y], r->host[Z], n_elements);
    polytile_device_get_report(r->launch.device, &report);
    return report.compute_s;
}

static void launch_same(const resident_add *r) {
    polytile_view views[N_ARRAYS];
    for (int a = 0; a < N_ARRAYS; a++)
        views[a] = gpu_view(r->device[a], 0, n_elements - 1);
    gpu_launch(add_f32_implementation()->cuda_contiguous, POLYTILE_EXTENTS(n_elements), N_ARRAYS,
               views, r->stream);
}

static void launch_plain(const resident_add *r) {
    int64_t n = n_elements;
    void *arguments[] = {(void *)&r->device[X], (void *)&r->device[Y], (void *)&r->device[Z], &n};
    dim3 grid = {(unsigned)((n + GPU_PLAIN_BLOCK - 1) / GPU_PLAIN_BLOCK), 1, 1};
    dim3 block = {GPU_PLAIN_BLOCK, 1, 1};
    GPU_CALL(cudaLaunchKernel(gpu_plain_add(), grid, block, arguments, 0, r->stream));
}

/** The kernel's time by events, after copies of its inputs as in a run of the library, so that the
 * launch is waiting when its turn comes. */
static double time_launch(resident_add *r, void (*launch)(const resident_add *)) {
    float taken_ms;
    gpu_poison(r->host[Z], n_elements);
    for (int a = X; a <= Z; a++)
        GPU_CALL(cudaMemcpyAsync(r->device[a], r->host[a], (size_t)array_bytes,
                                 cudaMemcpyHostToDevice, r->stream));
    GPU_CALL(cudaEventRecord(r->start, r->stream));
    launch(r);
    GPU_CALL(cudaEventRecord(r->stop, r->stream));
    GPU_CALL(cudaMemcpyAsync(r->host[Z], r->device[Z], (size_t)array_bytes, cudaMemcpyDeviceToHost,
                             r->stream));
    GPU_CALL(cudaStreamSynchronize(r->stream));
    gpu_require_sums(r->host[X], r->host[Y], r->host[Z], n_elements);
    GPU_CALL(cudaEventElapsedTime(&taken_ms, r->start, r->stop));
    return 1e-3 * (double)taken_ms;
}

static double time_same(void *subject) {
    return time_launch(subject, launch_same);
}

static double time_plain(void *subject) {
    return time_launch(subject, launch_plain);
}

static void create(resident_add *r) {
    for (int a = 0; a < N_ARRAYS; a++) {
        r->host[a] = gpu_allocate_pinned(array_bytes);
        GPU_CALL(cudaMalloc((void **)&r->device[a], (size_t)array_bytes));
    }
    gpu_fill_random(r->host[X], n_elements, 3);
    gpu_fill_random(r->host[Y], n_elements, 4);
    GPU_CALL(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
    GPU_CALL(cudaEventCreate(&r->start));
    GPU_CALL(cudaEventCreate(&r->stop));
    problem_open(&r->launch, 2 * N_ARRAYS * array_bytes, ADD_DECLARATION, add_f32_implementation());
    for (int a = 0; a < N_ARRAYS; a++)
        problem_wrap(&r->launch, 1, &n_elements, r->host[a]);
    problem_plan(&r->launch, POLYTILE_EXTENTS(n_elements),
                 &(polytile_launch_options){.plan.strategy = "min-kernels"});
    if (r->launch.summary.n_kernels != 1)
        gpu_fail("the plan has %lld sub-kernels instead of one",
                 (long long)r->launch.summary.n_kernels);
}

void resident(void) {
    resident_add r = {0};
    bench_times library = {0}, same = {0}, plain = {0}, again = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&r);
    gpu_alternate(time_library, time_same, &r, &library, &same);
    gpu_report(&(gpu_comparison){"resident, kernel of the run", "raw launch of the same kernel",
                                 &library, &same, BENCH_AT_MOST, 1.01, r.launch.plan_s});
    gpu_alternate(time_library, time_plain, &r, &again, &plain);
    gpu_report(&(gpu_comparison){"resident, kernel of the run", "plain CUDA kernel", &again, &plain,
                                 BENCH_NO_TARGET, 0.0, 0.0});
}
