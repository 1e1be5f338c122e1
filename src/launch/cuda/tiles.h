#ifndef POLYTILE_LAUNCH_CUDA_TILES_H
#define POLYTILE_LAUNCH_CUDA_TILES_H

#include "launch/cuda/runtime/cuda.h"

/* Launches that alternate between two arrays as one kernel, in tiles of shared memory: kernels of
 * bodies that POLYTILE_KERNEL made (polytile/kernel_tiles.h). */

/** Return the tiles that a GPU runs: two thread blocks at a time on each multiprocessor. */
pti_tile_room pti_cuda_tile_room(const struct cudaDeviceProp *properties);

/** Return whether launches of a run can run as one: all have one body with a tile kernel, and its
 * tiles are those of the schedule. */
bool pti_cuda_may_run_tiles(polytile_device *device, const pti_tile_command *command);

/** Enqueue launches that can run as one. */
polytile_status pti_cuda_launch_tiles(pti_cuda_device *cuda, const pti_tile_command *command);

#endif
