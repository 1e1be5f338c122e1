#ifndef POLYTILE_TESTS_LAUNCH_CUDA_TILE_KERNELS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_TILE_KERNELS_H

#include <polytile/kernel.h>

/* Bodies whose launches alternate between two arrays, or whose arrays change roles in turn. Results
 * differ with every element that they read, with the thread's indices, and with each parameter. */

POLYTILE_KERNEL(tile_five, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i + 1, j) +
                     11u * PT_AT(A, i, j - 1) + 13u * PT_AT(A, i, j + 1) + (uint32_t)(17 * i + j);
}

POLYTILE_KERNEL(tile_upwind, (i, j), (const uint64_t, A, 2), (uint64_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i - 1, j + 1) + 5u * PT_AT(A, i, j) + 7u * PT_AT(A, i, j - 2);
}

POLYTILE_KERNEL(tile_wide, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    uint32_t sum = 1;
    for (int64_t k = -2; k <= 2; k++)
        for (int64_t l = -1; l <= 1; l++)
            sum = 31u * sum + PT_AT(A, i + k, j + l);
    PT_AT(B, i, j) = sum;
}

POLYTILE_KERNEL(tile_ends, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    const uint32_t above = i > PT_ARRAY_FIRST(A, 0) ? PT_AT(A, i - 1, j) : 1u;
    const uint32_t below = i < PT_ARRAY_LAST(A, 0) ? PT_AT(A, i + 1, j) : 2u;
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * above + 7u * below + (uint32_t)PT_EXTENT(B, 1);
}

POLYTILE_KERNEL(tile_weighted, (i, j), (uint8_t, small), (const uint32_t, A, 2), (int64_t, large),
                (uint32_t, B, 2)) {
    PT_AT(B, i, j) = small * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i + 1, j) +
                     11u * PT_AT(A, i, j - 1) + 13u * PT_AT(A, i, j + 1) + (uint32_t)large +
                     (uint32_t)(large >> 32);
}

/* Other arrays are read by all launches. */
POLYTILE_KERNEL(tile_field, (i, j), (uint32_t, B, 2), (const uint32_t, K, 2), (uint8_t, small),
                (const uint32_t, A, 2), (int64_t, large)) {
    PT_AT(B, i, j) = PT_AT(K, i - 1, j) * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) +
                     PT_AT(K, i, j + 1) * PT_AT(A, i + 1, j) + small * PT_AT(A, i, j - 1) +
                     13u * PT_AT(A, i, j + 1) + (uint32_t)large;
}

POLYTILE_KERNEL(tile_fields, (i, j), (const uint32_t, K, 2), (const uint32_t, A, 2),
                (uint32_t, B, 2), (const uint32_t, T, 2)) {
    PT_AT(B, i, j) = PT_AT(K, i, j) * PT_AT(A, i, j - 1) + PT_AT(T, i, j) * PT_AT(A, i, j) +
                     PT_AT(T, i, j - 1) * PT_AT(A, i, j + 1);
}

/* B is what comes after A, and C is what was before it; D is between C and A. */
POLYTILE_KERNEL(tile_wave, (i, j), (const uint32_t, A, 2), (const uint32_t, C, 2),
                (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i + 1, j) +
                     11u * PT_AT(A, i, j - 1) + 13u * PT_AT(A, i, j + 1) - 19u * PT_AT(C, i, j) +
                     (uint32_t)(17 * i + j);
}

POLYTILE_KERNEL(tile_leap, (i, j), (const uint64_t, A, 2), (uint64_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i + 1, j) +
                     11u * PT_AT(A, i, j - 2) + 13u * PT_AT(A, i, j + 1) - 19u * PT_AT(B, i, j);
}

POLYTILE_KERNEL(tile_ends_leap, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    const uint32_t above = i > PT_ARRAY_FIRST(A, 0) ? PT_AT(A, i - 1, j) : 1u;
    const uint32_t below = i < PT_ARRAY_LAST(A, 0) ? PT_AT(A, i + 1, j) : 2u;
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * above + 7u * below - 11u * PT_AT(B, i, j);
}

POLYTILE_KERNEL(tile_wave_field, (i, j), (uint32_t, B, 2), (const uint32_t, K, 2), (uint8_t, small),
                (const uint32_t, C, 2), (const uint32_t, A, 2), (int64_t, large)) {
    PT_AT(B, i, j) = PT_AT(K, i, j - 1) * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) +
                     7u * PT_AT(A, i + 1, j) + small * PT_AT(A, i, j - 1) +
                     13u * PT_AT(A, i, j + 1) - PT_AT(C, i, j) + (uint32_t)large;
}

POLYTILE_KERNEL(tile_lagged, (i, j), (const uint32_t, D, 2), (const uint32_t, A, 2),
                (uint32_t, B, 2), (const uint32_t, C, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i, j + 1) +
                     11u * PT_AT(C, i, j + 1) + 13u * PT_AT(D, i - 1, j) + (uint32_t)(17 * i + j);
}

#define TILE_BODIES(X)                                                                             \
    X(tile_five)                                                                                   \
    X(tile_upwind)                                                                                 \
    X(tile_wide)                                                                                   \
    X(tile_ends)                                                                                   \
    X(tile_weighted)                                                                               \
    X(tile_field)                                                                                  \
    X(tile_fields)                                                                                 \
    X(tile_wave) X(tile_leap) X(tile_wave_field) X(tile_lagged) X(tile_ends_leap)

#ifdef __cplusplus
extern "C" {
#endif

/** The same as nvcc compiles them; NULL if there is none. */
const polytile_implementation *cuda_tile_kernel_of(const char *name);

#ifdef __cplusplus
}
#endif

#endif
