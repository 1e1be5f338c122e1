#ifndef EXAMPLES_MATMUL_KERNELS_H
#define EXAMPLES_MATMUL_KERNELS_H

#include <polytile/implementation.h>

#define MATMUL_DECLARATION "matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]"
#define GEMM_DECLARATION   "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]"

#ifdef __cplusplus
extern "C" {
#endif

/** C = A B over whole rows and columns, f32. */
const polytile_implementation *matmul_implementation(void);

/** C += A B over a piece of k, f32. */
const polytile_implementation *gemm_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
