#ifndef POLYTILE_LAUNCH_CUDA_KERNEL_H
#define POLYTILE_LAUNCH_CUDA_KERNEL_H

#include "launch/cuda/runtime/cuda.h"

/* launch/cuda: the CUDA device. driver.c lists GPUs, open.c opens one, run.c runs schedules; this
 * launches kernels, with the blocks of block.h. */

/**
 * Enqueue a sub-kernel on its stream for launches: call its launcher, or launch its CUDA kernel
 * with the arguments (polytile_domain threads, polytile_view first array, ...), as polytile/cuda.h
 * says.
 *
 * Errors  DEVICE; UNSUPPORTED (CUDA has no code for the kernel, or the views do not fit a kernel's
 *         arguments); INVALID (the user's block has more threads than the kernel can
 *         be launched with); those of pti_tuning_get().
 */
polytile_status pti_cuda_launch(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel);

#endif
