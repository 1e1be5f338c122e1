#ifndef BENCH_GPU_KERNELS_H
#define BENCH_GPU_KERNELS_H

#include <polytile/implementation.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels beside those of the examples, compiled for CUDA, as C sees them. */

#define GATHER_DECLARATION "gather[i]: in x[:]; out y[i]"

/** Each thread goes through all of x: its length is how long a sub-kernel takes. The result depends
 * on i mod GATHER_PERIOD and, by weights from 0 to GATHER_WEIGHTS - 1, on all of x; with whole
 * numbers in x it is exact. */
const polytile_implementation *gpu_gather(void);

enum { GATHER_WEIGHTS = 4, GATHER_PERIOD = 1 << 20 };

#define INCREMENT_DECLARATION "increment[i]: inout x[i]"

/** x[i] += 1: with whole numbers in x exact, however often. */
const polytile_implementation *gpu_increment(void);

#define GPU_PERIODIC_JACOBI                                                                        \
    "periodic[i, j]: in A[wrap(i-1:i+1), j], A[i, wrap(j-1:j+1)]; out B[i, j]"

/** A step of the example's jacobi over a whole field, which goes on at its other ends. */
const polytile_implementation *gpu_periodic_jacobi(void);

#define GPU_PERIODIC_ROWS "periodic_rows[i, j]: in A[wrap(i-1:i+1), j], A[i, j-1:j+1]; out B[i, j]"

/** The same where columns end at fixed edges. */
const polytile_implementation *gpu_periodic_rows(void);

#define NINE_POINTS_DECLARATION "nine_points[i, j]: in A[i-1:i+1, j-1:j+1]; out B[i, j]"

/** A step of nine points over the interior: the weighted mean of an element and those around it. */
const polytile_implementation *gpu_nine_points(void);

/** The same as plain CUDA, as gpu_plain_jacobi(). */
const void *gpu_plain_nine_points(void);

/** A step of the example's jacobi over the interior of n x n floats as plain CUDA: (const float *a,
 * float *b, int64_t n), one thread an element of the interior, the second index along x. */
const void *gpu_plain_jacobi(void);

/** The same with a weight in place of the fifth: (const float *a, float *b, int64_t n, float
 * weight). */
const void *gpu_plain_weighted_jacobi(void);

#define GPU_JACOBI_FIELD "jacobi_field[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1], K[i, j]; out B[i, j]"

/** A step of the example's jacobi, with a weight for each element. */
const polytile_implementation *gpu_jacobi_field(void);

/** The same as plain CUDA: (const float *a, float *b, int64_t n, const float *k). */
const void *gpu_plain_jacobi_field(void);

/** A step of a wave equation over the interior: what comes after U, of U and what was before it. It
 * multiplies by powers of two alone, so that contraction rounds nothing otherwise. */
#define GPU_WAVE "wave[i, j]: in U[i-1:i+1, j], U[i, j-1:j+1], P[i, j]; out N[i, j]"
const polytile_implementation *gpu_wave(void);

/** The same over two arrays, of which the older one becomes the newest. */
#define GPU_LEAP "leap[i, j]: in U[i-1:i+1, j], U[i, j-1:j+1]; inout P[i, j]"
const polytile_implementation *gpu_leap(void);

/** Both as plain CUDA: (const float *u, const float *p, float *n, int64_t n). */
const void *gpu_plain_wave(void);

/** A step of the example's jacobi3d, likewise, over n x n x n floats; the first index along z. */
const void *gpu_plain_jacobi3d(void);

enum { STAR_RADIUS = 4 };

/** A step of a star of radius 4 over the interior of n x n x n floats, and as plain CUDA, as
 * gpu_plain_jacobi3d(). */
#define GPU_STAR                                                                                   \
    "star[i, j, k]: in A[i-4:i+4, j, k], A[i, j-4:j+4, k], A[i, j, k-4:k+4]; out B[i, j, k]"
const polytile_implementation *gpu_star(void);
const void *gpu_plain_star(void);

enum { LATTICE_DIRECTIONS = 9 };

/** A step of a D2Q9 lattice Boltzmann method over the interior of n x n cells: populations come
 * from the neighbours and collide. As plain CUDA as gpu_plain_jacobi(). */
#define GPU_LATTICE "lattice[i, j]: in F[i-1:i+1, 0:8, j-1:j+1]; out G[i, 0:8, j]"
const polytile_implementation *gpu_lattice(void);
const void *gpu_plain_lattice(void);

#define TRANSPOSE_DECLARATION "transpose[i, j]: in A[j, i]; out B[i, j]"
const polytile_implementation *gpu_transpose(void);

enum { SHUFFLED_ELEMENTS = 1 << 28 };

/** Even elements go to the first half, odd ones to the second: 28 launches are none. */
#define SHUFFLE_DECLARATION "shuffle[i]: in A[2*i:2*i+1]; out B[i], B[i+134217728]"
const polytile_implementation *gpu_shuffle(void);

/** z[i] = x[i] + y[i] for n elements as plain CUDA: (const float *x, const float *y, float *z,
 * int64_t n), one thread an element. */
const void *gpu_plain_add(void);

/** Threads of a block in all launches by hand. */
enum { GPU_PLAIN_BLOCK = 256 };

/** Launch a kernel of one index by hand, with the arguments that the library gives it. */
void gpu_launch(const void *kernel, const polytile_domain *threads, int n_views,
                polytile_view *views, cudaStream_t stream);

/** A view of the elements lo to hi of an array of floats, the first of which is at memory. */
polytile_view gpu_view(const float *memory, int64_t lo, int64_t hi);

#ifdef __cplusplus
}
#endif

#endif
