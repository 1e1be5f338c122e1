#include "gpu/cusparse.h"

#include "gpu/gpu.h"

/** Make a call of cuSPARSE; the case fails with its text and line if the call does. */
#define GPU_CUSPARSE(call) check_cusparse((call), #call, __LINE__)

enum { N_TRIES = 5 };

static const float one = 1.0f, zero = 0.0f;

static void check_cusparse(cusparseStatus_t status, const char *call, int line) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        gpu_fail("%s:%d: %s: %s", __FILE__, line, call, cusparseGetErrorString(status));
}

static void *copy_in(const void *data, int64_t n_bytes) {
    void *memory;
    GPU_CALL(cudaMalloc(&memory, (size_t)n_bytes));
    GPU_CALL(cudaMemcpy(memory, data, (size_t)n_bytes, cudaMemcpyHostToDevice));
    return memory;
}

static void describe(cusparse_product *p, const bench_csr *of) {
    GPU_CUSPARSE(cusparseCreateCsr(&p->A, of->n_rows, of->n_rows, of->n_entries, p->P, p->K, p->V,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                   CUDA_R_32F));
    GPU_CUSPARSE(cusparseCreateDnVec(&p->x, of->n_rows, p->x_memory, CUDA_R_32F));
    GPU_CUSPARSE(cusparseCreateDnVec(&p->y, of->n_rows, p->y_memory, CUDA_R_32F));
}

/** Prepare what an algorithm wants to know of the matrix, which does not count. */
static void prepare(cusparse_product *p, cusparseSpMVAlg_t algorithm) {
    size_t n_bytes;
    p->algorithm = algorithm;
    GPU_CUSPARSE(cusparseSpMV_bufferSize(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->A,
                                         p->x, &zero, p->y, CUDA_R_32F, algorithm, &n_bytes));
    GPU_CALL(cudaMalloc(&p->workspace, n_bytes + 1));
    GPU_CUSPARSE(cusparseSpMV_preprocess(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->A,
                                         p->x, &zero, p->y, CUDA_R_32F, algorithm, p->workspace));
}

void cusparse_product_multiply(const cusparse_product *p) {
    GPU_CUSPARSE(cusparseSpMV(p->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, p->A, p->x, &zero,
                              p->y, CUDA_R_32F, p->algorithm, p->workspace));
}

static double time_algorithm(cusparse_product *p, cusparseSpMVAlg_t algorithm,
                             cudaStream_t stream) {
    bench_times times = {0};
    prepare(p, algorithm);
    for (int k = 0; k < N_TRIES; k++) {
        const double start_s = bench_now_s();
        cusparse_product_multiply(p);
        GPU_CALL(cudaStreamSynchronize(stream));
        bench_add_time(&times, bench_now_s() - start_s);
    }
    GPU_CALL(cudaFree(p->workspace));
    return bench_least(&times);
}

static void choose_algorithm(cusparse_product *p, cudaStream_t stream) {
    const double first_s = time_algorithm(p, CUSPARSE_SPMV_CSR_ALG1, stream);
    const double second_s = time_algorithm(p, CUSPARSE_SPMV_CSR_ALG2, stream);
    prepare(p, first_s <= second_s ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2);
}

void cusparse_product_create(cusparse_product *p, const bench_csr *of, cudaStream_t stream) {
    *p = (cusparse_product){.P = copy_in(of->P, (of->n_rows + 1) * 4),
                            .K = copy_in(of->K, of->n_entries * 4),
                            .V = copy_in(of->V, of->n_entries * 4),
                            .x_memory = copy_in(of->x, of->n_rows * 4),
                            .y_memory = copy_in(of->y, of->n_rows * 4)};
    GPU_CUSPARSE(cusparseCreate(&p->handle));
    GPU_CUSPARSE(cusparseSetStream(p->handle, stream));
    describe(p, of);
    choose_algorithm(p, stream);
}
