#ifndef EXAMPLES_MATMUL_BLAS_H
#define EXAMPLES_MATMUL_BLAS_H

#include <polytile/implementation.h>

/* The matrix product by cuBLAS, f32, where this program was built with it. */

#ifdef __cplusplus
extern "C" {
#endif

extern const bool matmul_has_blas;

/** Start cuBLAS on the CUDA device that is current; NULL when that fails. What is returned is the
 * launchers' user, and the caller's to destroy. tf32: products of f32 rounded to TF32, on tensor cores. */
void *matmul_blas_create(bool tf32);
void matmul_blas_destroy(void *blas);

/** C = A B over whole rows and columns. */
polytile_launcher matmul_by_blas;

/** C += A B over a piece of k; C = A B where C holds nothing yet. */
polytile_launcher gemm_by_blas;

#ifdef __cplusplus
}
#endif

#endif
