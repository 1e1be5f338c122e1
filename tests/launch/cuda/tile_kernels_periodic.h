#ifndef POLYTILE_TESTS_LAUNCH_CUDA_TILE_KERNELS_PERIODIC_H
#define POLYTILE_TESTS_LAUNCH_CUDA_TILE_KERNELS_PERIODIC_H

#include <polytile/kernel.h>

/* Periodic: along both dimensions; along rows, by the body's own means; along columns. */
POLYTILE_KERNEL(tile_torus, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, PT_WRAP(A, 0, i - 1), j) +
                     7u * PT_AT(A, PT_WRAP(A, 0, i + 1), j) +
                     11u * PT_AT(A, i, PT_WRAP(A, 1, j - 1)) +
                     13u * PT_AT(A, i, PT_WRAP(A, 1, j + 1)) + (uint32_t)(17 * i + j);
}

POLYTILE_KERNEL(tile_ring, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    const int64_t n = PT_EXTENT(A, 0);
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, (i + n - 1) % n, j) +
                     7u * PT_AT(A, (i + 2) % n, j) + 11u * PT_AT(A, i, j + 1);
}

POLYTILE_KERNEL(tile_columns, (i, j), (uint8_t, small), (uint64_t, B, 2), (const uint64_t, K, 2),
                (const uint64_t, A, 2)) {
    PT_AT(B, i, j) = small * PT_AT(A, i - 1, PT_WRAP(A, 1, j + 2)) +
                     5u * PT_AT(K, i, PT_WRAP(K, 1, j - 1)) * PT_AT(A, i, PT_WRAP(A, 1, j - 1));
}

POLYTILE_KERNEL(tile_round_leap, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, PT_WRAP(A, 0, i - 1), j) +
                     7u * PT_AT(A, PT_WRAP(A, 0, i + 1), j) - 11u * PT_AT(B, i, j);
}

#define PERIODIC_TILE_BODIES(X) X(tile_torus) X(tile_ring) X(tile_columns) X(tile_round_leap)

#ifdef __cplusplus
extern "C" {
#endif

/** The same as nvcc compiles them; NULL if there is none. */
const polytile_implementation *cuda_periodic_tile_kernel_of(const char *name);

#ifdef __cplusplus
}
#endif

#endif
