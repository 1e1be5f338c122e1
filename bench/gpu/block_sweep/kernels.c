#include "gpu/block_sweep/kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(vector_add, (i), (const float, x, 1), (const float, y, 1), (float, z, 1)) {
    PT_AT(z, i) = PT_AT(x, i) + PT_AT(y, i);
}

POLYTILE_KERNEL(polynomial, (i), (const float, x, 1), (float, y, 1)) {
    float value = PT_AT(x, i), sum = 1.0f;
    for (int k = 0; k < 256; k++)
        sum = sum * value + 0.5f;
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(matrix_add, (i, j), (const float, A, 2), (const float, B, 2), (float, C, 2)) {
    PT_AT(C, i, j) = PT_AT(A, i, j) + PT_AT(B, i, j);
}

POLYTILE_KERNEL(matrix_copy, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, i, j);
}

POLYTILE_KERNEL(jacobi, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        0.25f * (PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j) + PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1));
}

POLYTILE_KERNEL(nine_points, (i, j), (const float, A, 2), (float, B, 2)) {
    float sum = 0;
    for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++)
            sum += PT_AT(A, i + di, j + dj);
    PT_AT(B, i, j) = sum / 9;
}

POLYTILE_KERNEL(matmul, (i, j), (const float, A, 2), (const float, B, 2), (float, C, 2)) {
    float sum = 0;
    for (int64_t k = PT_FIRST(A, 1); k <= PT_LAST(A, 1); k++)
        sum += PT_AT(A, i, k) * PT_AT(B, k, j);
    PT_AT(C, i, j) = sum;
}

POLYTILE_KERNEL(transpose, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, j, i);
}

POLYTILE_KERNEL(symmetrise, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = 0.5f * (PT_AT(A, i, j) + PT_AT(A, j, i));
}

POLYTILE_KERNEL(heat, (i, j, k), (const float, A, 3), (float, B, 3)) {
    PT_AT(B, i, j, k) = PT_AT(A, i, j, k) + 0.1f * (PT_AT(A, i - 1, j, k) + PT_AT(A, i + 1, j, k) +
                                                    PT_AT(A, i, j - 1, k) + PT_AT(A, i, j + 1, k) +
                                                    PT_AT(A, i, j, k - 1) + PT_AT(A, i, j, k + 1) -
                                                    6.0f * PT_AT(A, i, j, k));
}

POLYTILE_KERNEL(volume_add, (i, j, k), (const float, A, 3), (const float, B, 3), (float, C, 3)) {
    PT_AT(C, i, j, k) = PT_AT(A, i, j, k) + PT_AT(B, i, j, k);
}

#define CHARACTER(coalescing, arithmetic, reuse)                                                   \
    {                                                                                              \
        POLYTILE_COALESCING_##coalescing, POLYTILE_LEVEL_##arithmetic, POLYTILE_LEVEL_DEF,         \
            POLYTILE_LEVEL_##reuse, PT_NONE_RESERVED                                               \
    }

const sweep_kernel sweep_kernels[SWEEP_N_KERNELS] = {
    {"vector_add", &vector_add_kernel, CHARACTER(FULL, LOW, LOW), 1, 3, 1 << 28, 0},
    {"polynomial", &polynomial_kernel, CHARACTER(FULL, HIGH, LOW), 1, 2, 1 << 27, 0},
    {"matrix_add", &matrix_add_kernel, CHARACTER(FULL, LOW, LOW), 2, 3, 16384, 0},
    {"matrix_copy", &matrix_copy_kernel, CHARACTER(FULL, LOW, LOW), 2, 2, 16384, 0},
    {"jacobi", &jacobi_kernel, CHARACTER(MEDIUM, MEDIUM, MEDIUM), 2, 2, 16384, 1},
    {"nine_points", &nine_points_kernel, CHARACTER(MEDIUM, MEDIUM, MEDIUM), 2, 2, 16384, 1},
    {"matmul", &matmul_kernel, CHARACTER(MEDIUM, MEDIUM, HIGH), 2, 3, 2048, 0},
    {"transpose", &transpose_kernel, CHARACTER(SCATTER, LOW, LOW), 2, 2, 16384, 0},
    {"symmetrise", &symmetrise_kernel, CHARACTER(MEDIUM, LOW, LOW), 2, 2, 16384, 0},
    {"heat", &heat_kernel, CHARACTER(MEDIUM, MEDIUM, MEDIUM), 3, 2, 640, 1},
    {"volume_add", &volume_add_kernel, CHARACTER(FULL, LOW, LOW), 3, 3, 640, 0},
};
