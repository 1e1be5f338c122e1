/* The kernel of matrix_add, one body for every device. */
#include "matrix_add_kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(matrix_add_f32, (i, j), (const float, A, 2), (const float, B, 2), (float, C, 2)) {
    PT_AT(C, i, j) = PT_AT(A, i, j) + PT_AT(B, i, j);
}

POLYTILE_KERNEL(matrix_add_f64, (i, j), (const double, A, 2), (const double, B, 2),
                (double, C, 2)) {
    PT_AT(C, i, j) = PT_AT(A, i, j) + PT_AT(B, i, j);
}

const polytile_implementation *matrix_add_f32_implementation(void) {
    return &matrix_add_f32_kernel;
}

const polytile_implementation *matrix_add_f64_implementation(void) {
    return &matrix_add_f64_kernel;
}
