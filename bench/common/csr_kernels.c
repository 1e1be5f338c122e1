/* The kernels of csr_kernels.h, one body for every device. */
#include "common/csr_kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(rows, (i), (const float, V, 1), (const int32_t, P, 1), (const float, x, 1),
                (const int32_t, K, 1), (float, y, 1)) {
    float sum = 0;
    PT_SUM_RANGE(sum, e, PT_AT(P, i), PT_AT(P, i + 1) - 1, (V, x, K),
                 PT_AT(V, e) * PT_AT(x, PT_AT(K, e)));
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(rows_alone, (i), (const float, V, 1), (const int32_t, P, 1), (const float, x, 1),
                (const int32_t, K, 1), (float, y, 1)) {
    float sum = 0;
    for (int64_t e = PT_AT(P, i); e < PT_AT(P, i + 1); e++)
        sum += PT_AT(V, e) * PT_AT(x, PT_AT(K, e));
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(entries, (e), (const float, V, 1), (const float, x, 1), (const int32_t, K, 1),
                (float, y, 1), (const int32_t, R, 1)) {
    PT_SUM(PT_AT(y, PT_AT(R, e)), PT_AT(V, e) * PT_AT(x, PT_AT(K, e)));
}

const polytile_implementation *csr_rows(void) {
    return &rows_kernel;
}

const polytile_implementation *csr_rows_alone(void) {
    return &rows_alone_kernel;
}

const polytile_implementation *csr_entries(void) {
    return &entries_kernel;
}
