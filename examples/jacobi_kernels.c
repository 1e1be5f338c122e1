/* The kernels of jacobi, one body for every device. */
#include "jacobi_kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(jacobi_f32, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(PT_AT(A, i, j), PT_AT(A, i - 1, j), PT_AT(A, i + 1, j),
                                     PT_AT(A, i, j - 1), PT_AT(A, i, j + 1), 0.2f);
}

POLYTILE_KERNEL(jacobi_f64, (i, j), (const double, A, 2), (double, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(PT_AT(A, i, j), PT_AT(A, i - 1, j), PT_AT(A, i + 1, j),
                                     PT_AT(A, i, j - 1), PT_AT(A, i, j + 1), 0.2);
}

POLYTILE_KERNEL(copy_f32, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, i, j);
}

POLYTILE_KERNEL(copy_f64, (i, j), (const double, A, 2), (double, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, i, j);
}

const polytile_implementation *jacobi_f32_implementation(void) {
    return &jacobi_f32_kernel;
}

const polytile_implementation *jacobi_f64_implementation(void) {
    return &jacobi_f64_kernel;
}

const polytile_implementation *copy_f32_implementation(void) {
    return &copy_f32_kernel;
}

const polytile_implementation *copy_f64_implementation(void) {
    return &copy_f64_kernel;
}
