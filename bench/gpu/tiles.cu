/*
 * What several steps a kernel are worth, by hand: a thread block loads a tile of a field with its
 * border into shared memory and makes all steps there. Each step computes the border that later
 * steps read, which neighbouring tiles compute, too.
 *
 * The body is that of POLYTILE_KERNEL, called on a view of shared memory. It writes to a view of
 * the thread's own registers, several rows a thread: so nothing is stored between two rows, and the
 * loads that rows share are made once.
 */
#include "gpu/tiles.h"

#include "jacobi_kernels.h"
#include <polytile/kernel.h>

enum { WIDTH = 128, HEIGHT = 96, N_ROWS = 8, N_THREADS = 512, N_LINES = N_THREADS / WIDTH };
enum { OWN_WIDTH = WIDTH - 2 * TILES_N_STEPS, OWN_HEIGHT = HEIGHT - 2 * TILES_N_STEPS };
enum { ROW_BYTES = WIDTH * (int)sizeof(float), TILE_BYTES = HEIGHT * ROW_BYTES };

POLYTILE_KERNEL(mean, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(PT_AT(A, i, j), PT_AT(A, i - 1, j), PT_AT(A, i + 1, j),
                                     PT_AT(A, i, j - 1), PT_AT(A, i, j + 1), 0.2f);
}

/** A place of a field: its element is at field[i * n + j]. */
struct place {
    int64_t i, j;
};

/** The view of a tile whose first element has the indices 0, 0. */
static __device__ __forceinline__ mean_A_view view_of(const float *tile) {
    const mean_A_view view = {tile, {ROW_BYTES, sizeof(float)}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0,
                              0};
    return view;
}

/** A view in which one element of a column is `at`. */
static __device__ __forceinline__ mean_B_view view_of_one(float *at, int64_t i, int64_t j) {
    const mean_B_view view = {
        at - i - j, {sizeof(float), sizeof(float)}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0, 0};
    return view;
}

static __device__ __forceinline__ void step_rows(const float *from, float *to, int64_t row, int n,
                                                 int64_t column) {
    const mean_A_view A = view_of(from);
    if (n >= N_ROWS) {
        float own[N_ROWS];
#pragma unroll
        for (int k = 0; k < N_ROWS; k++)
            mean_thread(row + k, column, A, view_of_one(&own[k], row + k, column));
#pragma unroll
        for (int k = 0; k < N_ROWS; k++)
            to[(row + k) * WIDTH + column] = own[k];
    } else {
#pragma unroll 1
        for (int k = 0; k < n; k++)
            mean_thread(row + k, column, A,
                        view_of_one(&to[(row + k) * WIDTH + column], row + k, column));
    }
}

/** Load a tile that lies in the interior. Many loads under way matter more than all else here. */
static __device__ __forceinline__ void load_inner(const float *from, int64_t n, place first,
                                                  float *tile) {
    const int column = threadIdx.x % WIDTH;
    const float *const at = from + first.i * n + first.j + column;
#pragma unroll 8
    for (int row = threadIdx.x / WIDTH; row < HEIGHT; row += N_LINES)
        tile[row * WIDTH + column] = at[row * n];
}

/** Load a tile that may reach over the field's ends; of the other field what no step writes, at its
 * border. */
static __device__ __forceinline__ void load(const float *from, const float *to, int64_t n,
                                            place first, float *tile, float *other) {
    const int column = threadIdx.x % WIDTH;
    const int64_t j = first.j + column;
    for (int row = threadIdx.x / WIDTH; row < HEIGHT; row += N_LINES) {
        const int64_t i = first.i + row;
        if (i < 0 || i >= n || j < 0 || j >= n)
            continue;
        tile[row * WIDTH + column] = from[i * n + j];
        if (i == 0 || i == n - 1 || j == 0 || j == n - 1)
            other[row * WIDTH + column] = to[i * n + j];
    }
}

static __device__ __forceinline__ void make_step(const float *from, float *to, int64_t n,
                                                 place first, int step) {
    const int column = threadIdx.x % WIDTH, line = threadIdx.x / WIDTH;
    const int64_t j = first.j + column;
    const int lo = (int)max((int64_t)step, 1 - first.i);
    const int hi = (int)min((int64_t)(HEIGHT - 1 - step), n - 2 - first.i);
    if (column < step || column >= WIDTH - step || j < 1 || j > n - 2)
        return;
    for (int row = lo + line * N_ROWS; row <= hi; row += N_LINES * N_ROWS)
        step_rows(from, to, row, hi - row + 1, column);
}

static __device__ __forceinline__ void store(const float *tile, float *to, int64_t n, place first) {
    const int column = threadIdx.x % WIDTH;
    const int64_t j = first.j + column;
    if (column < TILES_N_STEPS || column >= WIDTH - TILES_N_STEPS || j > n - 2)
        return;
    for (int row = TILES_N_STEPS + threadIdx.x / WIDTH; row < HEIGHT - TILES_N_STEPS;
         row += N_LINES)
        if (first.i + row <= n - 2)
            to[(first.i + row) * n + j] = tile[row * WIDTH + column];
}

static __global__ void __launch_bounds__(N_THREADS)
    make_steps(const float *from, float *to, int64_t n) {
    extern __shared__ float memory[];
    float *tile = memory, *other = memory + HEIGHT * WIDTH;
    const place first = {(int64_t)blockIdx.y * OWN_HEIGHT + 1 - TILES_N_STEPS,
                         (int64_t)blockIdx.x * OWN_WIDTH + 1 - TILES_N_STEPS};
    if (first.i > 0 && first.i + HEIGHT < n && first.j > 0 && first.j + WIDTH < n)
        load_inner(from, n, first, tile);
    else
        load(from, to, n, first, tile, other);
    for (int step = 1; step <= TILES_N_STEPS; step++) {
        __syncthreads();
        make_step(tile, other, n, first, step);
        float *const made = other;
        other = tile;
        tile = made;
    }
    __syncthreads();
    store(tile, to, n, first);
}

cudaError_t gpu_tiles_launch(const float *from, float *to, int64_t n, cudaStream_t stream) {
    void *arguments[] = {&from, &to, &n};
    const dim3 grid((unsigned)((n - 2 + OWN_WIDTH - 1) / OWN_WIDTH),
                    (unsigned)((n - 2 + OWN_HEIGHT - 1) / OWN_HEIGHT), 1);
    const cudaError_t error = cudaFuncSetAttribute(
        (const void *)make_steps, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * TILE_BYTES);
    return error != cudaSuccess ? error
                                : cudaLaunchKernel((const void *)make_steps, grid, dim3(N_THREADS),
                                                   arguments, 2 * TILE_BYTES, stream);
}
