#ifndef BENCH_GPU_LANES_KERNELS_H
#define BENCH_GPU_LANES_KERNELS_H

#include "apsp_kernels.h"

#include <polytile/kernel.h>

/* Crauser's algorithm, one round at a time: relax, minimum and update until nothing changes. The
 * kernels of the launcher, and of the graphs by hand. */

namespace {

enum { UNSETTLED = 1, FRONTIER = 2 };
enum { GOES_ON, SOURCE, LIMIT };
enum { BLOCK = 256, MOST_BLOCKS = 2048 };

struct arrays {
    int64_t n;
    const int64_t *first;
    const int32_t *target, *weight, *least;
    polytile_view state, dist; /* a row a source */
    int32_t *turn;             /* of the first source of the sub-kernel */
};

template <class T> __device__ T *row_of(const polytile_view &view, int64_t s) {
    return (T *)((char *)view.origin + s * view.stride_bytes[0]);
}

__device__ int64_t first_vertex() {
    return blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
}

__device__ int64_t vertices_apart() {
    return gridDim.x * (int64_t)blockDim.x;
}

__device__ int32_t arrive(int32_t distance, int32_t weight) {
    return distance > APSP_UNREACHED - weight ? APSP_UNREACHED : distance + weight;
}

__device__ void begin_source(const arrays &a, int64_t s, int64_t v) {
    row_of<int32_t>(a.dist, s)[v] = v == s ? 0 : APSP_UNREACHED;
    row_of<uint8_t>(a.state, s)[v] = v == s ? FRONTIER : UNSETTLED;
}

__global__ void begin(arrays a, int64_t s) {
    if (first_vertex() == 0) {
        a.turn[GOES_ON] = 1;
        a.turn[SOURCE] = (int32_t)s;
        a.turn[LIMIT] = APSP_UNREACHED;
    }
    for (int64_t v = first_vertex(); v < a.n; v += vertices_apart())
        begin_source(a, s, v);
}

__global__ void relax(arrays a) {
    const int64_t s = a.turn[SOURCE];
    int32_t *dist = row_of<int32_t>(a.dist, s);
    const uint8_t *state = row_of<uint8_t>(a.state, s);
    for (int64_t u = first_vertex(); u < a.n; u += vertices_apart()) {
        if ((state[u] & FRONTIER) == 0)
            continue;
        for (int64_t k = a.first[u]; k < a.first[u + 1]; k++) {
            const int32_t end = arrive(dist[u], a.weight[k]);
            if (end < dist[a.target[k]])
                atomicMin(&dist[a.target[k]], end);
        }
    }
}

__global__ void minimum(arrays a) {
    __shared__ int32_t limit;
    const int64_t s = a.turn[SOURCE];
    const int32_t *dist = row_of<int32_t>(a.dist, s);
    const uint8_t *state = row_of<uint8_t>(a.state, s);
    int32_t own = APSP_UNREACHED;
    if (threadIdx.x == 0)
        limit = APSP_UNREACHED;
    __syncthreads();
    for (int64_t v = first_vertex(); v < a.n; v += vertices_apart())
        if ((state[v] & UNSETTLED) != 0)
            own = min(own, arrive(dist[v], a.least[v]));
    for (int apart = 16; apart > 0; apart /= 2)
        own = min(own, __shfl_down_sync(0xffffffff, own, apart));
    if (threadIdx.x % 32 == 0)
        atomicMin(&limit, own);
    __syncthreads();
    if (threadIdx.x == 0 && limit < APSP_UNREACHED)
        atomicMin(&a.turn[LIMIT], limit);
}

/** Settles what is within the limit; or, where there is none, begins the next source. */
__global__ void update(arrays a, int64_t last) {
    const int64_t s = a.turn[SOURCE];
    const int32_t limit = a.turn[LIMIT];
    const int32_t *dist = row_of<int32_t>(a.dist, s);
    uint8_t *state = row_of<uint8_t>(a.state, s);
    for (int64_t v = first_vertex(); v < a.n; v += vertices_apart()) {
        if (limit < APSP_UNREACHED)
            state[v] = (state[v] & UNSETTLED) == 0 ? 0 : dist[v] <= limit ? FRONTIER : UNSETTLED;
        else if (s < last)
            begin_source(a, s + 1, v);
    }
}

__global__ void turn(arrays a, int64_t last) {
    if (a.turn[LIMIT] == APSP_UNREACHED)
        a.turn[GOES_ON] = a.turn[SOURCE]++ < last;
    a.turn[LIMIT] = APSP_UNREACHED;
}

int count_blocks(int64_t n) {
    const int64_t n_wanted = (n + BLOCK - 1) / BLOCK;
    return (int)(n_wanted < MOST_BLOCKS ? n_wanted : (int64_t)MOST_BLOCKS);
}

} /* namespace */

#endif
