#ifndef BENCH_GPU_CUSPARSE_H
#define BENCH_GPU_CUSPARSE_H

#include "common/csr.h"

#include <cuda_runtime_api.h>
#include <cusparse.h>

/* y = A x by cuSPARSE on data that is all on the GPU. */

typedef struct cusparse_product {
    cusparseHandle_t handle;
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t x, y;
    cusparseSpMVAlg_t algorithm;
    void *P, *K, *V;
    float *x_memory, *y_memory;
    void *workspace;
} cusparse_product;

/** Copy a matrix and x to the GPU, and choose the faster one of the algorithms for compressed
 * rows. */
void cusparse_product_create(cusparse_product *p, const bench_csr *of, cudaStream_t stream);

/** Enqueue one product. */
void cusparse_product_multiply(const cusparse_product *p);

#endif
