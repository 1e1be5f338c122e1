/* The plain kernels of matmul, one body for every device: a thread for each element of C, or for
 * each product that is added to one. */
#include "matmul_kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(matmul, (i, j), (const float, A, 2), (const float, B, 2), (float, C, 2)) {
    float sum = 0.0f;
    for (int64_t k = PT_FIRST(A, 1); k <= PT_LAST(A, 1); ++k)
        sum += PT_AT(A, i, k) * PT_AT(B, k, j);
    PT_AT(C, i, j) = sum;
}

POLYTILE_KERNEL(gemm, (i, j, k), (const float, A, 2), (const float, B, 2), (float, C, 2)) {
    PT_SUM(PT_AT(C, i, j), PT_AT(A, i, k) * PT_AT(B, k, j));
}

const polytile_implementation *matmul_implementation(void) {
    return &matmul_kernel;
}

const polytile_implementation *gemm_implementation(void) {
    return &gemm_kernel;
}
