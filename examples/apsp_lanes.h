#ifndef EXAMPLES_APSP_LANES_H
#define EXAMPLES_APSP_LANES_H

#include "apsp_kernels.h"

#include <polytile/kernel.h>

#include <stdint.h>

/* What lets one body be run by a whole thread block on a GPU and by one thread on the host: LANE of
 * LANES goes through every LANES-th element, and TOGETHER lanes share the arcs of a vertex. By a
 * whole row of blocks of a grid GRID_LANE of GRID_LANES does so. */

#ifdef __CUDA_ARCH__
#define LANE         ((int64_t)threadIdx.x)
#define LANES        ((int64_t)blockDim.x)
#define TOGETHER     32
#define GRID_LANE    ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define GRID_LANES   ((int64_t)gridDim.x * blockDim.x)
#define LANES_MEET() __syncthreads()
#else
#define LANE         INT64_C(0)
#define LANES        INT64_C(1)
#define TOGETHER     1
#define GRID_LANE    INT64_C(0)
#define GRID_LANES   INT64_C(1)
#define LANES_MEET() ((void)0)
#endif

/** The end of an arc from some distance on. */
PT_FUNCTION int32_t apsp_arrive(int32_t distance, int32_t weight) {
    return distance > APSP_UNREACHED - weight ? APSP_UNREACHED : distance + weight;
}

/** Lower an element to a value, and return what it was. */
PT_FUNCTION int32_t lanes_lower(int32_t *element, int32_t value);
/** Add one to an element, and return what it was. */
PT_FUNCTION int32_t lanes_count(int32_t *element);

#ifdef __CUDA_ARCH__
PT_FUNCTION int32_t lanes_lower(int32_t *element, int32_t value) {
    return atomicMin(element, value);
}

PT_FUNCTION int32_t lanes_count(int32_t *element) {
    return atomicAdd(element, 1);
}
#else
PT_FUNCTION int32_t lanes_lower(int32_t *element, int32_t value) {
    int32_t before = *element;
    *element = value < before ? value : before;
    return before;
}

PT_FUNCTION int32_t lanes_count(int32_t *element) {
    return (*element)++;
}
#endif

#endif
