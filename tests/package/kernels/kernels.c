#include "kernels.h"

#include <polytile/kernel.h>

/* One source in three languages: C, C++ and CUDA. */

PT_FUNCTION int64_t around(int64_t left, int64_t middle, int64_t right) {
    return left + 2 * middle + right;
}

POLYTILE_KERNEL(smooth, (i), (const int64_t, A, 1), (int64_t, B, 1)) {
    PT_AT(B, i) = around(PT_AT(A, i - 1), PT_AT(A, i), PT_AT(A, i + 1));
}

POLYTILE_KERNEL(total, (i), (const int64_t, B, 1), (int64_t, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(B, i));
}

POLYTILE_KERNEL(shift, (i), (int64_t, a), (int64_t, B, 1), (const int32_t, times)) {
    PT_AT(B, i) += a * times + PT_EXTENT(B, 0);
}

const polytile_implementation *const smooth = &smooth_kernel;
const polytile_implementation *const total = &total_kernel;
const polytile_implementation *const shift = &shift_kernel;
