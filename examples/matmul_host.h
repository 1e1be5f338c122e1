#ifndef EXAMPLES_MATMUL_HOST_H
#define EXAMPLES_MATMUL_HOST_H

#include <polytile/implementation.h>

#define MATMUL_DECLARATION "matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]"
#define GEMM_DECLARATION   "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]"

/** C = A B over whole rows and columns, f32, cache-blocked. */
extern const polytile_implementation matmul_kernel;

/** C += A B over a piece of k, f32, cache-blocked. */
extern const polytile_implementation gemm_kernel;

#endif
