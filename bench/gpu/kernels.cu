#include "gpu/kernels.h"

#include "jacobi3d_kernels.h"
#include "jacobi_kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(gather, (i), (const float, x, 1), (float, y, 1)) {
    float sum = (float)(i % GATHER_PERIOD);
    for (int64_t k = PT_FIRST(x, 0); k <= PT_LAST(x, 0); k++)
        sum += PT_AT(x, k) * (float)((i + k) % GATHER_WEIGHTS);
    PT_AT(y, i) = sum;
}

const polytile_implementation *gpu_gather(void) {
    return &gather_kernel;
}

POLYTILE_KERNEL(increment, (i), (float, x, 1)) {
    PT_AT(x, i) += 1.0f;
}

const polytile_implementation *gpu_increment(void) {
    return &increment_kernel;
}

/** Sums in one fixed order: results are compared bit by bit. */
#define NINE_POINT_MEAN(at)                                                                        \
    (0.25f * at(0, 0) + 0.125f * ((at(-1, 0) + at(1, 0)) + (at(0, -1) + at(0, 1))) +               \
     0.0625f * ((at(-1, -1) + at(1, 1)) + (at(-1, 1) + at(1, -1))))

POLYTILE_KERNEL(nine_points, (i, j), (const float, A, 2), (float, B, 2)) {
#define NINE_AT(di, dj) PT_AT(A, i + (di), j + (dj))
    PT_AT(B, i, j) = NINE_POINT_MEAN(NINE_AT);
}

const polytile_implementation *gpu_nine_points(void) {
    return &nine_points_kernel;
}

static __global__ void plain_nine_points(const float *a, float *b, int64_t n) {
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y + 1;
    int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x + 1;
    const float *at = a + i * n + j;
#define NINE_BEHIND(di, dj) at[(di)*n + (dj)]
    if (i < n - 1 && j < n - 1)
        b[i * n + j] = NINE_POINT_MEAN(NINE_BEHIND);
}

const void *gpu_plain_nine_points(void) {
    return (const void *)plain_nine_points;
}

static __global__ void plain_jacobi(const float *a, float *b, int64_t n) {
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y + 1;
    int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x + 1;
    const float *at = a + i * n + j;
    if (i < n - 1 && j < n - 1)
        b[i * n + j] = FIVE_POINT_MEAN(at[0], at[-n], at[n], at[-1], at[1], 0.2f);
}

const void *gpu_plain_jacobi(void) {
    return (const void *)plain_jacobi;
}

static __global__ void plain_weighted_jacobi(const float *a, float *b, int64_t n, float weight) {
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y + 1;
    int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x + 1;
    const float *at = a + i * n + j;
    if (i < n - 1 && j < n - 1)
        b[i * n + j] = FIVE_POINT_MEAN(at[0], at[-n], at[n], at[-1], at[1], weight);
}

const void *gpu_plain_weighted_jacobi(void) {
    return (const void *)plain_weighted_jacobi;
}

POLYTILE_KERNEL(jacobi_field, (i, j), (const float, A, 2), (const float, K, 2), (float, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(PT_AT(A, i, j), PT_AT(A, i - 1, j), PT_AT(A, i + 1, j),
                                     PT_AT(A, i, j - 1), PT_AT(A, i, j + 1), PT_AT(K, i, j));
}

const polytile_implementation *gpu_jacobi_field(void) {
    return &jacobi_field_kernel;
}

static __global__ void plain_jacobi_field(const float *a, float *b, int64_t n, const float *k) {
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y + 1;
    int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x + 1;
    const float *at = a + i * n + j;
    if (i < n - 1 && j < n - 1)
        b[i * n + j] = FIVE_POINT_MEAN(at[0], at[-n], at[n], at[-1], at[1], k[i * n + j]);
}

const void *gpu_plain_jacobi_field(void) {
    return (const void *)plain_jacobi_field;
}

PT_FUNCTION float wave_of(float at, float before, float around) {
    return (2.0f * at - before) + 0.25f * (around - 4.0f * at);
}

POLYTILE_KERNEL(wave, (i, j), (const float, U, 2), (const float, P, 2), (float, N, 2)) {
    PT_AT(N, i, j) = wave_of(PT_AT(U, i, j), PT_AT(P, i, j),
                             (PT_AT(U, i - 1, j) + PT_AT(U, i + 1, j)) +
                                 (PT_AT(U, i, j - 1) + PT_AT(U, i, j + 1)));
}

const polytile_implementation *gpu_wave(void) {
    return &wave_kernel;
}

POLYTILE_KERNEL(leap, (i, j), (const float, U, 2), (float, P, 2)) {
    PT_AT(P, i, j) = wave_of(PT_AT(U, i, j), PT_AT(P, i, j),
                             (PT_AT(U, i - 1, j) + PT_AT(U, i + 1, j)) +
                                 (PT_AT(U, i, j - 1) + PT_AT(U, i, j + 1)));
}

const polytile_implementation *gpu_leap(void) {
    return &leap_kernel;
}

static __global__ void plain_wave(const float *u, const float *before, float *next, int64_t n) {
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y + 1;
    int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x + 1;
    const float *at = u + i * n + j;
    if (i < n - 1 && j < n - 1)
        next[i * n + j] = wave_of(at[0], before[i * n + j], (at[-n] + at[n]) + (at[-1] + at[1]));
}

const void *gpu_plain_wave(void) {
    return (const void *)plain_wave;
}

static __global__ void plain_jacobi3d(const float *a, float *b, int64_t n) {
    int64_t i = (int64_t)blockIdx.z + 1;
    int64_t j = (int64_t)blockIdx.y * blockDim.y + threadIdx.y + 1;
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x + 1;
    int64_t plane = n * n;
    const float *at = a + i * plane + j * n + k;
    if (j < n - 1 && k < n - 1)
        b[i * plane + j * n + k] = SEVEN_POINT_MEAN(at[0], at[-plane], at[plane], at[-n], at[n],
                                                    at[-1], at[1], 1.0f / 7.0f);
}

const void *gpu_plain_jacobi3d(void) {
    return (const void *)plain_jacobi3d;
}

static __global__ void plain_add(const float *x, const float *y, float *z, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

const void *gpu_plain_add(void) {
    return (const void *)plain_add;
}
