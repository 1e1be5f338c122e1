/* Bodies that wrap: their kernels go round periodic arrays in tiles. */
#define POLYTILE_PERIODIC_TILES 1
#include "gpu/kernels.h"

#include "jacobi_kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(periodic, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(
        PT_AT(A, i, j), PT_AT(A, PT_WRAP(A, 0, i - 1), j), PT_AT(A, PT_WRAP(A, 0, i + 1), j),
        PT_AT(A, i, PT_WRAP(A, 1, j - 1)), PT_AT(A, i, PT_WRAP(A, 1, j + 1)), 0.2f);
}

const polytile_implementation *gpu_periodic_jacobi(void) {
    return &periodic_kernel;
}

POLYTILE_KERNEL(periodic_rows, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(PT_AT(A, i, j), PT_AT(A, PT_WRAP(A, 0, i - 1), j),
                                     PT_AT(A, PT_WRAP(A, 0, i + 1), j), PT_AT(A, i, j - 1),
                                     PT_AT(A, i, j + 1), 0.2f);
}

const polytile_implementation *gpu_periodic_rows(void) {
    return &periodic_rows_kernel;
}
