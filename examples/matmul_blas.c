#include "matmul_blas.h"

#include <cublas_v2.h>

const bool matmul_has_blas = true;

void *matmul_blas_create(bool tf32) {
    cublasHandle_t blas;
    if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS)
        return NULL;
    cublasMath_t mode = tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH;
    if (cublasSetMathMode(blas, mode) == CUBLAS_STATUS_SUCCESS)
        return blas;
    cublasDestroy(blas);
    return NULL;
}

void matmul_blas_destroy(void *blas) {
    if (blas != NULL)
        cublasDestroy(blas);
}

static float *element(const polytile_view *m, int64_t row, int64_t column) {
    return (float *)(void *)((char *)m->origin + row * m->stride_bytes[0] +
                             column * m->stride_bytes[1]);
}

/** In elements, from one row to the next. */
static int64_t row_stride(const polytile_view *m) {
    return m->stride_bytes[0] / (int64_t)sizeof(float);
}

static int64_t count(polytile_range r) {
    return r.hi - r.lo + 1;
}

/** C = A B + beta C over the box of the launch and a range of k. To cuBLAS a matrix stored by rows
 * is its transpose stored by columns, so it is asked for the transpose of C, which is that of B
 * times that of A. Its default arithmetic is that of f32 throughout. */
static int multiply(const polytile_launch *launch, polytile_range k, float beta) {
    const polytile_range i = launch->threads->range[0], j = launch->threads->range[1];
    const polytile_view *a = &launch->views[0], *b = &launch->views[1], *c = &launch->views[2];
    const float alpha = 1.0f;
    cublasStatus_t status = cublasSetStream(launch->user, launch->stream);
    if (status == CUBLAS_STATUS_SUCCESS)
        status =
            cublasSgemm_64(launch->user, CUBLAS_OP_N, CUBLAS_OP_N, count(j), count(i), count(k),
                           &alpha, element(b, k.lo, j.lo), row_stride(b), element(a, i.lo, k.lo),
                           row_stride(a), &beta, element(c, i.lo, j.lo), row_stride(c));
    return (int)status;
}

int matmul_by_blas(const polytile_launch *launch) {
    return multiply(launch, launch->views[0].resident.range[1], 0.0f);
}

int gemm_by_blas(const polytile_launch *launch) {
    return multiply(launch, launch->threads->range[2], launch->is_first ? 0.0f : 1.0f);
}
