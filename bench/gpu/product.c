#include "gpu/product.h"

#include "gpu/gpu.h"

#define GEMM_DECLARATION "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]"

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

/** C = A B + beta C in C order is, in the order of Fortran that cuBLAS knows, C' = B' A' + beta
 * C'. */
static cublasStatus_t multiply(const product *p, const int64_t *n_ijk, const float *a,
                               int a_leading, const float *b, int b_leading, float beta, float *c,
                               int c_leading) {
    const float alpha = 1.0f;
    return cublasGemmEx(p->blas, CUBLAS_OP_N, CUBLAS_OP_N, (int)n_ijk[1], (int)n_ijk[0],
                        (int)n_ijk[2], &alpha, b, CUDA_R_32F, b_leading, a, CUDA_R_32F, a_leading,
                        &beta, c, CUDA_R_32F, c_leading, p->arithmetic, CUBLAS_GEMM_DEFAULT);
}

static int multiply_box(const polytile_sub_kernel *launch) {
    const polytile_view *a = &launch->views[0], *b = &launch->views[1], *c = &launch->views[2];
    const polytile_range *i = &launch->threads->range[0], *j = &launch->threads->range[1],
                         *k = &launch->threads->range[2];
    const int64_t n_ijk[] = {n_of(i), n_of(j), n_of(k)};
    const product *p = launch->user;
    cublasStatus_t status = cublasSetStream(p->blas, launch->stream);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = multiply(p, n_ijk, element(a, i->lo, k->lo), leading(a), element(b, k->lo, j->lo),
                          leading(b), launch->is_first ? 0.0f : 1.0f, element(c, i->lo, j->lo),
                          leading(c));
    return (int)status;
}

void product_check(const product *p) {
    gpu_require_equal("C", p->c, p->expected, p->n_elements);
}

double product_time_library(void *subject) {
    product *p = subject;
    gpu_poison(p->c, p->n_elements);
    double taken_s = problem_run(&p->launch);
    product_check(p);
    return taken_s;
}

double product_time_rival(void *subject) {
    product *p = subject;
    const float alpha = 1.0f, beta = 0.0f;
    size_t extent = (size_t)p->extent;
    gpu_poison(p->c, p->n_elements);
    double start_s = bench_now_s();
    GPU_CUBLAS(cublasXtSgemm(p->rival, CUBLAS_OP_N, CUBLAS_OP_N, extent, extent, extent, &alpha,
                             p->b, extent, p->a, extent, &beta, p->c, extent));
    GPU_CALL(cudaDeviceSynchronize());
    double taken_s = bench_now_s() - start_s;
    product_check(p);
    return taken_s;
}

static void multiply_whole(const product *p) {
    const int64_t n_ijk[] = {p->extent, p->extent, p->extent};
    GPU_CUBLAS(cublasSetStream(p->blas, NULL));
    GPU_CUBLAS(multiply(p, n_ijk, p->device[0], p->extent, p->device[1], p->extent, 0.0f,
                        p->device[2], p->extent));
}

static void upload_inputs(const product *p) {
    size_t n_bytes = (size_t)p->array_bytes;
    GPU_CALL(cudaMemcpyAsync(p->device[0], p->a, n_bytes, cudaMemcpyHostToDevice, NULL));
    GPU_CALL(cudaMemcpyAsync(p->device[1], p->b, n_bytes, cudaMemcpyHostToDevice, NULL));
}

double product_time_in_core(void *subject) {
    product *p = subject;
    size_t n_bytes = (size_t)p->array_bytes;
    gpu_poison(p->c, p->n_elements);
    double start_s = bench_now_s();
    upload_inputs(p);
    multiply_whole(p);
    GPU_CALL(cudaMemcpyAsync(p->c, p->device[2], n_bytes, cudaMemcpyDeviceToHost, NULL));
    GPU_CALL(cudaDeviceSynchronize());
    double taken_s = bench_now_s() - start_s;
    product_check(p);
    return taken_s;
}

double product_time_cublas(const product *p) {
    GPU_CALL(cudaDeviceSynchronize());
    double start_s = bench_now_s();
    multiply_whole(p);
    GPU_CALL(cudaDeviceSynchronize());
    return bench_now_s() - start_s;
}

/** A sum in whole numbers for some elements, on the host. */
static void check_expected(const product *p) {
    enum { N_SAMPLES = 1024 };
    int64_t extent = p->extent, first_wrong = p->n_elements;
#pragma omp parallel for reduction(min : first_wrong)
    for (int64_t s = 0; s < N_SAMPLES; s++) {
        int64_t i = s * 7919 % extent, j = s * 104729 % extent, sum = 0;
        for (int64_t k = 0; k < extent; k++)
            sum += (int64_t)p->a[i * extent + k] * (int64_t)p->b[k * extent + j];
        if (!(p->expected[i * extent + j] == (float)sum) && i * extent + j < first_wrong)
            first_wrong = i * extent + j;
    }
    gpu_require_all_right("C by cuBLAS in core", p->expected, first_wrong, p->n_elements);
}

void product_create(product *p, int extent, cublasComputeType_t arithmetic) {
    int64_t n_elements = (int64_t)extent * extent;
    *p = (product){.extent = extent,
                   .arithmetic = arithmetic,
                   .n_elements = n_elements,
                   .array_bytes = n_elements * (int64_t)sizeof(float)};
    float **const host[] = {&p->a, &p->b, &p->c, &p->expected};
    for (int m = 0; m < 4; m++)
        *host[m] = gpu_allocate_pinned(p->array_bytes);
    gpu_fill_whole_numbers(p->a, n_elements, 7);
    gpu_fill_whole_numbers(p->b, n_elements, 8);
    GPU_CUBLAS(cublasCreate(&p->blas));
    for (int m = 0; m < 3; m++)
        GPU_CALL(cudaMalloc(&p->device[m], (size_t)p->array_bytes));
    upload_inputs(p);
    product_time_cublas(p);
    GPU_CALL(cudaMemcpy(p->expected, p->device[2], (size_t)p->array_bytes, cudaMemcpyDeviceToHost));
    check_expected(p);
}

void product_open_limited(product *p, int64_t limit_bytes, const polytile_launch_options *options) {
    const int64_t extents[] = {p->extent, p->extent};
    const polytile_implementation by_cublas = {.user = p, .cuda_launcher = multiply_box};
    problem_open(&p->launch, limit_bytes, GEMM_DECLARATION, &by_cublas);
    problem_wrap(&p->launch, 2, extents, p->a);
    problem_wrap(&p->launch, 2, extents, p->b);
    problem_wrap(&p->launch, 2, extents, p->c);
    problem_plan(&p->launch, POLYTILE_EXTENTS(p->extent, p->extent, p->extent), options);
}

void product_tune_rival(product *p, int n_blocks, const int *blocks, int n_tries) {
    int best_block = 0, device = 0;
    double best_s = 0.0;
    GPU_CUBLAS(cublasXtCreate(&p->rival));
    GPU_CUBLAS(cublasXtDeviceSelect(p->rival, 1, &device));
    for (int b = 0; b < n_blocks; b++) {
        bench_times times = {0};
        GPU_CUBLAS(cublasXtSetBlockDim(p->rival, blocks[b]));
        for (int r = 0; r < n_tries; r++)
            bench_add_time(&times, product_time_rival(p));
        if (best_block == 0 || bench_least(&times) < best_s) {
            best_s = bench_least(&times);
            best_block = blocks[b];
        }
    }
    GPU_CUBLAS(cublasXtSetBlockDim(p->rival, best_block));
}
