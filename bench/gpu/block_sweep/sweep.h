#ifndef BENCH_GPU_BLOCK_SWEEP_SWEEP_H
#define BENCH_GPU_BLOCK_SWEEP_SWEEP_H

#include "gpu/block_sweep/kernels.h"
#include "launch/cuda/grid.h"
#include "launch/cuda/runtime/cuda.h"

/* How long a kernel takes with each thread block there is, on data that is resident. */

/** The first GPU with the arrays of all kernels, which share their memory. */
typedef struct sweep_gpu {
    polytile_context *ctx;
    pti_cuda_device *cuda;
    char *array[SWEEP_MOST_ARRAYS];
    cudaEvent_t *event;
} sweep_gpu;

/** A block with a cache preference, and the median of its times in seconds. */
typedef struct sweep_time {
    pti_cuda_extents block;
    pti_cache_preference cache;
    double time_s;
} sweep_time;

typedef struct sweep_result {
    sweep_time best;
    sweep_time table;     /* what the library chooses for the kernel's character */
    sweep_time occupancy; /* what it chooses for a kernel of which nothing is known */
    bool has_row;
} sweep_result;

/** Every error ends the process with a text. */
void sweep_open(sweep_gpu *gpu);
void sweep_close(sweep_gpu *gpu);
sweep_result sweep_run(sweep_gpu *gpu, const sweep_kernel *kernel);

#endif
