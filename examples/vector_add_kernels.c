/* The kernel of vector_add, one body for every device. */
#include "vector_add_kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(add_f32, (i), (const float, x, 1), (const float, y, 1), (float, z, 1)) {
    PT_AT(z, i) = PT_AT(x, i) + PT_AT(y, i);
}

POLYTILE_KERNEL(add_f64, (i), (const double, x, 1), (const double, y, 1), (double, z, 1)) {
    PT_AT(z, i) = PT_AT(x, i) + PT_AT(y, i);
}

const polytile_implementation *add_f32_implementation(void) {
    return &add_f32_kernel;
}

const polytile_implementation *add_f64_implementation(void) {
    return &add_f64_kernel;
}
