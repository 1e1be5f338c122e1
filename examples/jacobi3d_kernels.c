/* The kernels of jacobi3d, one body for every device. */
#include "jacobi3d_kernels.h"

#include <polytile/kernel.h>

/* The element at i, j, k and its neighbours, as SEVEN_POINT_MEAN() takes them. */
#define MEAN_AT(A, i, j, k, seventh)                                                               \
    SEVEN_POINT_MEAN(PT_AT(A, i, j, k), PT_AT(A, i - 1, j, k), PT_AT(A, i + 1, j, k),              \
                     PT_AT(A, i, j - 1, k), PT_AT(A, i, j + 1, k), PT_AT(A, i, j, k - 1),          \
                     PT_AT(A, i, j, k + 1), seventh)

POLYTILE_KERNEL(jacobi3d_f32, (i, j, k), (const float, A, 3), (float, B, 3)) {
    PT_AT(B, i, j, k) = MEAN_AT(A, i, j, k, 1.0f / 7.0f);
}

POLYTILE_KERNEL(jacobi3d_f64, (i, j, k), (const double, A, 3), (double, B, 3)) {
    PT_AT(B, i, j, k) = MEAN_AT(A, i, j, k, 1.0 / 7.0);
}

POLYTILE_KERNEL(copy3d_f32, (i, j, k), (const float, A, 3), (float, B, 3)) {
    PT_AT(B, i, j, k) = PT_AT(A, i, j, k);
}

POLYTILE_KERNEL(copy3d_f64, (i, j, k), (const double, A, 3), (double, B, 3)) {
    PT_AT(B, i, j, k) = PT_AT(A, i, j, k);
}

const polytile_implementation *jacobi3d_f32_implementation(void) {
    return &jacobi3d_f32_kernel;
}

const polytile_implementation *jacobi3d_f64_implementation(void) {
    return &jacobi3d_f64_kernel;
}

const polytile_implementation *copy3d_f32_implementation(void) {
    return &copy3d_f32_kernel;
}

const polytile_implementation *copy3d_f64_implementation(void) {
    return &copy3d_f64_kernel;
}
