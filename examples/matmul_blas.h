#ifndef EXAMPLES_MATMUL_BLAS_H
#define EXAMPLES_MATMUL_BLAS_H

#include <polytile/implementation.h>

/* The matrix product by cuBLAS, f32, if this program was built with it. */

#ifdef __cplusplus
extern "C" {
#endif

extern const bool matmul_has_blas;

/** Create the launchers' user, which the caller destroys; NULL when memory runs out. tf32: products
 * of f32 rounded to TF32, on tensor cores. */
void *matmul_blas_create(bool tf32);
void matmul_blas_destroy(void *blas);

/** Start cuBLAS on a CUDA device, or on the current one (-1), before launches there: once for each
 * queue on the device. */
bool matmul_blas_start(void *blas, int device);

/** Computes C = A B over whole rows and columns. */
polytile_launcher matmul_by_blas;

/** Computes C += A B over a range of k; C = A B if C holds nothing yet. */
polytile_launcher gemm_by_blas;

#ifdef __cplusplus
}
#endif

#endif
