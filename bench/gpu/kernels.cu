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

/** The mean of an element and its neighbours up to four away, further ones with less weight: powers
 * of two alone, so that contraction rounds nothing otherwise. */
#define STAR_MEAN(at)                                                                              \
    (0.25f * at(0) + (0.0625f * STAR_RING(at, 1) + 0.03125f * STAR_RING(at, 2)) +                  \
     (0.015625f * STAR_RING(at, 3) + 0.0078125f * STAR_RING(at, 4)))

POLYTILE_KERNEL(star, (i, j, k), (const float, A, 3), (float, B, 3)) {
#define STAR_AT(di) PT_AT(A, i, j, k)
#define STAR_RING(at, r)                                                                           \
    (((PT_AT(A, i - (r), j, k) + PT_AT(A, i + (r), j, k)) +                                        \
      (PT_AT(A, i, j - (r), k) + PT_AT(A, i, j + (r), k))) +                                       \
     (PT_AT(A, i, j, k - (r)) + PT_AT(A, i, j, k + (r))))
    PT_AT(B, i, j, k) = STAR_MEAN(STAR_AT);
#undef STAR_RING
}

const polytile_implementation *gpu_star(void) {
    return &star_kernel;
}

static __global__ void plain_star(const float *a, float *b, int64_t n) {
    int64_t i = (int64_t)blockIdx.z + STAR_RADIUS;
    int64_t j = (int64_t)blockIdx.y * blockDim.y + threadIdx.y + STAR_RADIUS;
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x + STAR_RADIUS;
    int64_t plane = n * n;
    const float *at = a + i * plane + j * n + k;
#define STAR_BEHIND(di) at[di]
#define STAR_RING(behind, r)                                                                       \
    (((at[-(r)*plane] + at[(r)*plane]) + (at[-(r)*n] + at[(r)*n])) + (at[-(r)] + at[r]))
    if (i < n - STAR_RADIUS && j < n - STAR_RADIUS && k < n - STAR_RADIUS)
        b[i * plane + j * n + k] = STAR_MEAN(STAR_BEHIND);
#undef STAR_RING
}

const void *gpu_plain_star(void) {
    return (const void *)plain_star;
}

/* D2Q9: populations by direction, those that go to (di, dj). Products are operands of fmaf() and of
 * other products alone, so that there is nothing to contract. */

typedef struct populations {
    float f[LATTICE_DIRECTIONS];
} populations;

PT_FUNCTION int lattice_di(int q) {
    return q / 3 - 1;
}

PT_FUNCTION int lattice_dj(int q) {
    return q % 3 - 1;
}

PT_FUNCTION float lattice_weight(int q) {
    int n_moving = (lattice_di(q) != 0) + (lattice_dj(q) != 0);
    return n_moving == 0 ? 4.0f / 9.0f : n_moving == 1 ? 1.0f / 9.0f : 1.0f / 36.0f;
}

/** Return populations after a collision: half way to their equilibrium. */
PT_FUNCTION populations lattice_collide(populations p) {
    float rho = 0.0f, u = 0.0f, v = 0.0f;
    for (int q = 0; q < LATTICE_DIRECTIONS; q++) {
        rho += p.f[q];
        u += lattice_di(q) == 0 ? 0.0f : lattice_di(q) > 0 ? p.f[q] : -p.f[q];
        v += lattice_dj(q) == 0 ? 0.0f : lattice_dj(q) > 0 ? p.f[q] : -p.f[q];
    }
    u /= rho;
    v /= rho;
    float rest = fmaf(-1.5f, fmaf(u, u, v * v), 1.0f);
    for (int q = 0; q < LATTICE_DIRECTIONS; q++) {
        float along = fmaf((float)lattice_di(q), u, (float)lattice_dj(q) * v);
        float relative = fmaf(fmaf(4.5f, along, 3.0f), along, rest);
        p.f[q] = fmaf(0.5f, fmaf(lattice_weight(q) * rho, relative, -p.f[q]), p.f[q]);
    }
    return p;
}

POLYTILE_KERNEL(lattice, (i, j), (const float, F, 3), (float, G, 3)) {
    populations p;
    for (int q = 0; q < LATTICE_DIRECTIONS; q++)
        p.f[q] = PT_AT(F, i - lattice_di(q), q, j - lattice_dj(q));
    p = lattice_collide(p);
    for (int q = 0; q < LATTICE_DIRECTIONS; q++)
        PT_AT(G, i, q, j) = p.f[q];
}

const polytile_implementation *gpu_lattice(void) {
    return &lattice_kernel;
}

static __global__ void plain_lattice(const float *f, float *g, int64_t n) {
    int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y + 1;
    int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i >= n - 1 || j >= n - 1)
        return;
    populations p;
    for (int q = 0; q < LATTICE_DIRECTIONS; q++)
        p.f[q] = f[((i - lattice_di(q)) * LATTICE_DIRECTIONS + q) * n + j - lattice_dj(q)];
    p = lattice_collide(p);
    for (int q = 0; q < LATTICE_DIRECTIONS; q++)
        g[(i * LATTICE_DIRECTIONS + q) * n + j] = p.f[q];
}

const void *gpu_plain_lattice(void) {
    return (const void *)plain_lattice;
}

POLYTILE_KERNEL(transpose, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, j, i);
}

const polytile_implementation *gpu_transpose(void) {
    return &transpose_kernel;
}

POLYTILE_KERNEL(shuffle, (i), (const float, A, 1), (float, B, 1)) {
    PT_AT(B, i) = PT_AT(A, 2 * i);
    PT_AT(B, i + SHUFFLED_ELEMENTS / 2) = PT_AT(A, 2 * i + 1);
}

const polytile_implementation *gpu_shuffle(void) {
    return &shuffle_kernel;
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
