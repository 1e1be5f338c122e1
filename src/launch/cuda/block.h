#ifndef POLYTILE_LAUNCH_CUDA_BLOCK_H
#define POLYTILE_LAUNCH_CUDA_BLOCK_H

#include "launch/cuda/grid.h"
#include "launch/cuda/runtime/cuda.h"

/* The thread block of a launch: the one that was asked for; else that of the tuning tables' row for
 * the kernel; else the one with which the most threads run at once. */

/**
 * What is known of a launch's kernel: looked up when it is new, or when the tables have changed.
 *
 * Errors  DEVICE, UNSUPPORTED (CUDA has no code for the kernel); those of pti_tuning_get().
 * Owns    *choice is the device's, until the next call.
 */
polytile_status pti_cuda_choose(pti_cuda_device *cuda, const pti_launch *launch,
                                pti_cuda_choice **choice);

/** The block of a launch whose kernel was looked up. Errors: INVALID (the block that was asked for
 * has more threads than the kernel can be launched with). */
polytile_status pti_cuda_find_block(const pti_cuda_device *cuda, const pti_launch *launch,
                                    const pti_cuda_choice *choice, pti_cuda_extents *block);

/** The block with which the most threads run at once, whatever the tables say. */
pti_cuda_extents pti_cuda_full_block(const pti_launch *launch, const pti_cuda_choice *choice);

#endif
