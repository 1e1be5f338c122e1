#ifndef POLYTILE_LAUNCH_CUDA_KERNEL_H
#define POLYTILE_LAUNCH_CUDA_KERNEL_H

#include "launch/cuda/grid.h"
#include "launch/cuda/runtime/cuda.h"

/* launch/cuda: the CUDA device. driver.c opens it, run.c runs schedules, and here kernels are
 * launched, with the thread blocks of block.h. */

/**
 * Enqueue a sub-kernel on its stream for launches: call its launcher, or launch its CUDA kernel
 * with the arguments (polytile_domain threads, polytile_view first array, ...), as polytile/cuda.h
 * says.
 *
 * Errors  DEVICE; UNSUPPORTED (CUDA has no code for the kernel, or the views do not fit the 4 KiB
 *         of a kernel's arguments); INVALID (the block asked for has more threads than the kernel
 *         can be launched with); those of pti_tuning_get().
 */
polytile_status pti_cuda_launch(pti_cuda_device *cuda, const pti_launch *launch);

/** The stream for launches that one has. */
cudaStream_t pti_cuda_stream_of(const pti_cuda_device *cuda, const pti_launch *launch);

/** Enqueue a launch's CUDA kernel with a block that it can be launched with. */
polytile_status pti_cuda_launch_with(pti_cuda_device *cuda, const pti_launch *launch,
                                     pti_cuda_extents block);

#endif
