/* The kernels of walsh, one body for every device. */
#include "walsh_kernels.h"

#include <polytile/kernel.h>

/* Replace two partners by their sum and their difference. */
#define BUTTERFLY(T, first, second)                                                                \
    do {                                                                                           \
        const T one = (first), other = (second);                                                   \
        (first) = one + other;                                                                     \
        (second) = one - other;                                                                    \
    } while (0)

#define DEFINE_WALSH(T, suffix)                                                                    \
    POLYTILE_KERNEL(walsh_columns_##suffix, (a, h, c), (T, x, 4)) {                                \
        BUTTERFLY(T, PT_AT(x, a, 0, h, c), PT_AT(x, a, 1, h, c));                                  \
    }                                                                                              \
    POLYTILE_KERNEL(walsh_rows_##suffix, (r, a, h), (T, x, 4)) {                                   \
        BUTTERFLY(T, PT_AT(x, r, a, 0, h), PT_AT(x, r, a, 1, h));                                  \
    }                                                                                              \
    POLYTILE_KERNEL(walsh_near_##suffix, (r, h, a), (T, x, 4)) {                                   \
        BUTTERFLY(T, PT_AT(x, r, a, 0, h), PT_AT(x, r, a, 1, h));                                  \
    }                                                                                              \
    const polytile_implementation *walsh_columns_##suffix##_implementation(void) {                 \
        return &walsh_columns_##suffix##_kernel;                                                   \
    }                                                                                              \
    const polytile_implementation *walsh_rows_##suffix##_implementation(void) {                    \
        return &walsh_rows_##suffix##_kernel;                                                      \
    }                                                                                              \
    const polytile_implementation *walsh_near_##suffix##_implementation(void) {                    \
        return &walsh_near_##suffix##_kernel;                                                      \
    }

DEFINE_WALSH(float, f32)
DEFINE_WALSH(double, f64)
