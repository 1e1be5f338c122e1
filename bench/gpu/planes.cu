/*
 * What several steps a kernel are worth in three dimensions, by hand: a thread block goes along the
 * first index through a column of the field, with a border that grows by an element a step, and
 * makes all steps on the way, each a plane behind the one before. A thread has its elements of
 * three planes of each step in registers; what neighbours in the plane need is in shared memory.
 *
 * Source  Matsumura et al., "AN5D: automated stencil framework for high-degree temporal blocking on
 *         GPUs", 2020 (streaming, shared memory twice a step).
 */
#include "gpu/planes.h"

#include "jacobi3d_kernels.h"

enum { WIDTH = 64, HEIGHT = 32, N_ROWS = 4, N_THREADS = WIDTH * HEIGHT / N_ROWS, PART = 160 };
enum { PLANE_ELEMENTS = WIDTH * HEIGHT };

/** The column of a thread block, and what a thread has of it: N_ROWS rows of one column. */
struct place {
    int64_t n, j, k; /* of the thread's first element */
    int row, column; /* in the tile */
};

static __device__ __forceinline__ bool is_inside(const place &at, int64_t i, int row) {
    return i >= 0 && i < at.n && at.j + row >= 0 && at.j + row < at.n && at.k >= 0 && at.k < at.n;
}

static __device__ __forceinline__ bool is_border(const place &at, int64_t i, int row) {
    const int64_t j = at.j + row;
    return i == 0 || i == at.n - 1 || j == 0 || j == at.n - 1 || at.k == 0 || at.k == at.n - 1;
}

static __device__ __forceinline__ int64_t element(const place &at, int64_t i, int row) {
    return (i * at.n + at.j + row) * at.n + at.k;
}

static __device__ __forceinline__ float load_element(const float *from, const place &at, int64_t i,
                                                     int row) {
    return is_inside(at, i, row) ? from[element(at, i, row)] : 0;
}

/** A step of one row; values of the plane at hand are in registers, those beside in `plane`. */
static __device__ __forceinline__ float step_row(const float *plane, const place &at, int row,
                                                 const float *above, const float *here,
                                                 const float *below) {
    const float *own = plane + (at.row + row) * WIDTH + at.column;
    const float north = row > 0 ? here[row > 0 ? row - 1 : 0] : own[at.row > 0 ? -WIDTH : 0];
    const float south = row + 1 < N_ROWS ? here[row + 1 < N_ROWS ? row + 1 : row]
                                         : own[at.row + N_ROWS < HEIGHT ? WIDTH : 0];
    const float west = own[at.column > 0 ? -1 : 0], east = own[at.column + 1 < WIDTH ? 1 : 0];
    return SEVEN_POINT_MEAN(here[row], above[row], below[row], north, south, west, east,
                            1.0f / 7.0f);
}

/** Elements that no step writes are those of the field to which a step would go. */
template <int N_STEPS>
static __global__ void __launch_bounds__(N_THREADS, N_STEPS > PLANES_FEW_STEPS ? 1 : 2)
    make_steps(const float *from, float *to, int64_t n) {
    extern __shared__ float memory[];
    const int column = threadIdx.x % WIDTH, row = threadIdx.x / WIDTH * N_ROWS;
    const place at = {n, (int64_t)blockIdx.y * (HEIGHT - 2 * N_STEPS) + 1 - N_STEPS + row,
                      (int64_t)blockIdx.x * (WIDTH - 2 * N_STEPS) + 1 - N_STEPS + column, row,
                      column};
    const int64_t first = (int64_t)blockIdx.z * PART + 1, end = min(first + PART, n - 1);
    float value[N_STEPS][3][N_ROWS] = {}, coming[N_ROWS];
    for (int r = 0; r < N_ROWS; r++)
        coming[r] = load_element(from, at, first - N_STEPS, r);
    for (int64_t plane = first - N_STEPS; plane < end + N_STEPS; plane++) {
        const int parity = (int)(plane & 1);
        float made[N_ROWS];
#pragma unroll
        for (int r = 0; r < N_ROWS; r++) {
            made[r] = coming[r];
            coming[r] = load_element(from, at, plane + 1, r);
        }
#pragma unroll
        for (int step = 0; step < N_STEPS; step++) {
            const int64_t i = plane - step - 1;
            const float *const shared = memory + (2 * step + 1 - parity) * PLANE_ELEMENTS;
            float *const next = memory + (2 * step + parity) * PLANE_ELEMENTS;
            float after[N_ROWS];
#pragma unroll
            for (int r = 0; r < N_ROWS; r++) {
                value[step][2][r] = made[r];
                next[(row + r) * WIDTH + column] = made[r];
            }
#pragma unroll
            for (int r = 0; r < N_ROWS; r++)
                after[r] = step_row(shared, at, r, value[step][0], value[step][1], value[step][2]);
#pragma unroll
            for (int r = 0; r < N_ROWS; r++) {
                if (is_inside(at, i, r) && is_border(at, i, r))
                    after[r] = (step % 2 == 0 ? to : from)[element(at, i, r)];
                value[step][0][r] = value[step][1][r];
                value[step][1][r] = value[step][2][r];
                made[r] = after[r];
            }
        }
        const int64_t i = plane - N_STEPS;
        const bool has_column =
            column >= N_STEPS && column < WIDTH - N_STEPS && at.k >= 1 && at.k < n - 1;
#pragma unroll
        for (int r = 0; r < N_ROWS; r++)
            if (i >= first && i < end && has_column && row + r >= N_STEPS &&
                row + r < HEIGHT - N_STEPS && at.j + r >= 1 && at.j + r < n - 1)
                to[element(at, i, r)] = made[r];
        __syncthreads();
    }
}

template <int N_STEPS>
static cudaError_t launch(const float *from, float *to, int64_t n, cudaStream_t stream) {
    const int shared_bytes = 2 * N_STEPS * PLANE_ELEMENTS * (int)sizeof(float);
    const int64_t width = WIDTH - 2 * N_STEPS, height = HEIGHT - 2 * N_STEPS;
    const dim3 grid((unsigned)((n - 2 + width - 1) / width),
                    (unsigned)((n - 2 + height - 1) / height),
                    (unsigned)((n - 2 + PART - 1) / PART));
    const void *kernel = (const void *)make_steps<N_STEPS>;
    void *arguments[] = {&from, &to, &n};
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    return error != cudaSuccess ? error
                                : cudaLaunchKernel(kernel, grid, dim3(N_THREADS), arguments,
                                                   (size_t)shared_bytes, stream);
}

cudaError_t gpu_planes_launch(const float *from, float *to, int64_t n, int n_steps,
                              cudaStream_t stream) {
    switch (n_steps) {
    case PLANES_FEW_STEPS:
        return launch<PLANES_FEW_STEPS>(from, to, n, stream);
    case PLANES_MANY_STEPS:
        return launch<PLANES_MANY_STEPS>(from, to, n, stream);
    default:
        return cudaErrorInvalidValue;
    }
}
