/* The kernels of spmv, one body for every device. */
#include "spmv_kernels.h"

#include <polytile/kernel.h>

#define DEFINE_SPMV(T, suffix)                                                                     \
    POLYTILE_KERNEL(spmv_rows_##suffix, (i), (const T, V, 1), (const int64_t, P, 1),               \
                    (const T, x, 1), (const int32_t, K, 1), (T, y, 1)) {                           \
        T sum = 0;                                                                                 \
        PT_SUM_RANGE(sum, e, PT_AT(P, i), PT_AT(P, i + 1) - 1, (V, x, K),                          \
                     PT_AT(V, e) * PT_AT(x, PT_AT(K, e)));                                         \
        PT_AT(y, i) = sum;                                                                         \
    }                                                                                              \
    POLYTILE_KERNEL(spmv_entries_##suffix, (e), (const T, V, 1), (const T, x, 1),                  \
                    (const int32_t, K, 1), (T, y, 1), (const int32_t, R, 1)) {                     \
        PT_SUM(PT_AT(y, PT_AT(R, e)), PT_AT(V, e) * PT_AT(x, PT_AT(K, e)));                        \
    }                                                                                              \
    const polytile_implementation *spmv_rows_##suffix##_implementation(void) {                     \
        return &spmv_rows_##suffix##_kernel;                                                       \
    }                                                                                              \
    const polytile_implementation *spmv_entries_##suffix##_implementation(void) {                  \
        return &spmv_entries_##suffix##_kernel;                                                    \
    }

DEFINE_SPMV(float, f32)
DEFINE_SPMV(double, f64)
