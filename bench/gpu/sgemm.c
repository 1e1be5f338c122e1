/* A product of two matrices out of core by cuBLAS: the part of C at hand stays on the GPU while
 * panels of A and B stream past it. */
#include "gpu/cases.h"
#include "gpu/cublas.h"
#include "gpu/gpu.h"
#include "gpu/problem.h"

#include <string.h>

enum { EXTENT = 16384 };
static const int64_t n_elements = (int64_t)EXTENT * EXTENT;
static const int64_t array_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);

#define GEMM_DECLARATION "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]"

typedef struct product {
    float *a, *b, *c;
    float *expected; /* what cuBLAS computes of whole matrices; sums of whole numbers are exact */
    cublasHandle_t blas;
    cublasXtHandle_t rival;
    void *device[3]; /* whole matrices */
    problem launch;
} product;

static int64_t n_of(const polytile_range *range) {
    return range->hi - range->lo + 1;
}

static float *element(const polytile_view *view, int64_t i, int64_t j) {
    uintptr_t address = (uintptr_t)view->origin;
    return (float *)(address + (uintptr_t)(i * view->stride_bytes[0] + j * view->stride_bytes[1]));
}

static int leading(const polytile_view *view) {
    return (int)(view->stride_bytes[0] / (int64_t)sizeof(float));
}

/** C = A B in C order is, in the order of Fortran that cuBLAS knows, C' = B' A'. */
static int multiply_box(const polytile_launch *launch) {
    const polytile_view *a = &launch->views[0], *b = &launch->views[1], *c = &launch->views[2];
    const polytile_range *i = &launch->threads->range[0], *j = &launch->threads->range[1],
                         *k = &launch->threads->range[2];
    const float alpha = 1.0f, beta = launch->is_first ? 0.0f : 1.0f;
    cublasHandle_t blas = launch->user;
    cublasStatus_t status = cublasSetStream(blas, launch->stream);
    if (status != CUBLAS_STATUS_SUCCESS)
        return (int)status;
    return (int)cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, (int)n_of(j), (int)n_of(i),
                            (int)n_of(k), &alpha, element(b, k->lo, j->lo), leading(b),
                            element(a, i->lo, k->lo), leading(a), &beta, element(c, i->lo, j->lo),
                            leading(c));
}

static void check_product(const product *p) {
    const float *c = p->c, *expected = p->expected;
    int64_t first_wrong = n_elements;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t k = 0; k < n_elements; k++) {
        if (!(c[k] == expected[k]))
            first_wrong = k < first_wrong ? k : first_wrong;
    }
    gpu_require_all_right("C", c, first_wrong, n_elements);
}

static double time_library(void *subject) {
    product *p = subject;
    gpu_poison(p->c, n_elements);
    double taken_s = problem_run(&p->launch);
    check_product(p);
    return taken_s;
}

static double time_rival(void *subject) {
    product *p = subject;
    const float alpha = 1.0f, beta = 0.0f;
    gpu_poison(p->c, n_elements);
    double start_s = bench_now_s();
    GPU_CUBLAS(cublasXtSgemm(p->rival, CUBLAS_OP_N, CUBLAS_OP_N, EXTENT, EXTENT, EXTENT, &alpha,
                             p->b, EXTENT, p->a, EXTENT, &beta, p->c, EXTENT));
    GPU_CALL(cudaDeviceSynchronize());
    double taken_s = bench_now_s() - start_s;
    check_product(p);
    return taken_s;
}

/** cuBLAS alone, on matrices that are on the GPU already. */
static double time_in_core(const product *p) {
    const float alpha = 1.0f, beta = 0.0f;
    GPU_CUBLAS(cublasSetStream(p->blas, NULL));
    GPU_CALL(cudaDeviceSynchronize());
    double start_s = bench_now_s();
    GPU_CUBLAS(cublasSgemm(p->blas, CUBLAS_OP_N, CUBLAS_OP_N, EXTENT, EXTENT, EXTENT, &alpha,
                           p->device[1], EXTENT, p->device[0], EXTENT, &beta, p->device[2],
                           EXTENT));
    GPU_CALL(cudaDeviceSynchronize());
    return bench_now_s() - start_s;
}

/** A sum in whole numbers for some elements, on the host. */
static void check_expected(const product *p) {
    enum { N_SAMPLES = 1024 };
    int64_t first_wrong = n_elements;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t s = 0; s < N_SAMPLES; s++) {
        int64_t i = s * 7919 % EXTENT, j = s * 104729 % EXTENT, sum = 0;
        for (int64_t k = 0; k < EXTENT; k++)
            sum += (int64_t)p->a[i * EXTENT + k] * (int64_t)p->b[k * EXTENT + j];
        if (!(p->expected[i * EXTENT + j] == (float)sum) && i * EXTENT + j < first_wrong)
            first_wrong = i * EXTENT + j;
    }
    gpu_require_all_right("C by cuBLAS in core", p->expected, first_wrong, n_elements);
}

static void create(product *p) {
    float **const host[] = {&p->a, &p->b, &p->c, &p->expected};
    for (int m = 0; m < 4; m++)
        *host[m] = gpu_allocate_pinned(array_bytes);
    gpu_fill_whole_numbers(p->a, n_elements, 7);
    gpu_fill_whole_numbers(p->b, n_elements, 8);
    GPU_CUBLAS(cublasCreate(&p->blas));
    for (int m = 0; m < 3; m++) {
        GPU_CALL(cudaMalloc(&p->device[m], (size_t)array_bytes));
        GPU_CALL(cudaMemcpy(p->device[m], *host[m], (size_t)array_bytes, cudaMemcpyHostToDevice));
    }
    time_in_core(p);
    GPU_CALL(cudaMemcpy(p->expected, p->device[2], (size_t)array_bytes, cudaMemcpyDeviceToHost));
    check_expected(p);
}

/** Plan with a quarter of the three matrices' bytes. */
static void open_limited(product *p, const polytile_plan_options *options) {
    const int64_t extents[] = {EXTENT, EXTENT};
    const polytile_implementation by_cublas = {.user = p->blas, .cuda_launcher = multiply_box};
    problem_open(&p->launch, 3 * array_bytes / 4, GEMM_DECLARATION, &by_cublas);
    problem_wrap(&p->launch, 2, extents, p->a);
    problem_wrap(&p->launch, 2, extents, p->b);
    problem_wrap(&p->launch, 2, extents, p->c);
    problem_plan(&p->launch, POLYTILE_EXTENTS(EXTENT, EXTENT, EXTENT), options);
}

/** Give the rival the block size with which it is fastest. */
static void tune_rival(product *p) {
    static const int blocks[] = {1024, 2048, 4096, 8192};
    int best_block = 0, device = 0;
    double best_s = 0.0;
    GPU_CUBLAS(cublasXtCreate(&p->rival));
    GPU_CUBLAS(cublasXtDeviceSelect(p->rival, 1, &device));
    for (int b = 0; b < (int)(sizeof blocks / sizeof *blocks); b++) {
        bench_times times = {0};
        GPU_CUBLAS(cublasXtSetBlockDim(p->rival, blocks[b]));
        for (int r = 0; r < 3; r++)
            bench_add_time(&times, time_rival(p));
        if (best_block == 0 || bench_least(&times) < best_s) {
            best_s = bench_least(&times);
            best_block = blocks[b];
        }
    }
    GPU_CUBLAS(cublasXtSetBlockDim(p->rival, best_block));
}

/** The same with a block and a number of buffers by hand, to tell what planning costs or gains. */
static void compare_with_hints(product *p) {
    const int64_t block[] = {4096, 4096, 512};
    const polytile_plan_options hints = {.block = block, .n_buffers = 2};
    bench_times library = {0}, rival = {0};
    problem_close(&p->launch);
    open_limited(p, &hints);
    gpu_alternate(time_library, time_rival, p, &library, &rival);
    gpu_report(&(gpu_comparison){"sgemm 16384, limit 1/4, block and buffers given",
                                 "cublasXt, best block", &library, &rival, BENCH_NO_TARGET, 0.0,
                                 p->launch.plan_s});
}

void sgemm(void) {
    product p = {0};
    bench_times library = {0}, rival = {0}, in_core = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&p);
    open_limited(&p, NULL);
    tune_rival(&p);
    gpu_alternate(time_library, time_rival, &p, &library, &rival);
    gpu_report(&(gpu_comparison){"sgemm 16384, limit 1/4", "cublasXt, best block", &library, &rival,
                                 BENCH_AT_MOST, 0.87, p.launch.plan_s});
    for (int r = 0; r < GPU_REPETITIONS; r++)
        bench_add_time(&in_core, time_in_core(&p));
    gpu_report(&(gpu_comparison){"sgemm 16384, limit 1/4", "cuBLAS alone, in core", &library,
                                 &in_core, BENCH_NO_TARGET, 0.0, 0.0});
    compare_with_hints(&p);
}

void sgemm_overhead(void) {
    product p = {0};
    gpu_begin(GPU_WAITS_ASLEEP);
    create(&p);
    open_limited(&p, NULL);
    problem_report_overhead(&p.launch, "host overhead, sgemm 1/4");
    check_product(&p);
}
