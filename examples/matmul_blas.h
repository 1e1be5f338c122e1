#ifndef EXAMPLES_MATMUL_BLAS_H
#define EXAMPLES_MATMUL_BLAS_H

#include <polytile/implementation.h>

/* The matrix product by cuBLAS, f32, where this program was built with it. */

#ifdef __cplusplus
extern "C" {
#endif

extern const bool matmul_has_blas;

/** What the launchers have as their user, and the caller destroys; NULL when memory runs out. tf32:
 * products of f32 rounded to TF32, on tensor cores. */
void *matmul_blas_create(bool tf32);
void matmul_blas_destroy(void *blas);

/** Start cuBLAS on a CUDA device, or on the current one (-1), before it is launched there: once for
 * each of several queues that have the same device. */
bool matmul_blas_start(void *blas, int device);

/** C = A B over whole rows and columns. */
polytile_launcher matmul_by_blas;

/** C += A B over a piece of k; C = A B where C holds nothing yet. */
polytile_launcher gemm_by_blas;

#ifdef __cplusplus
}
#endif

#endif
