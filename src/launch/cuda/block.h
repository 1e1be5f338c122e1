#ifndef POLYTILE_LAUNCH_CUDA_BLOCK_H
#define POLYTILE_LAUNCH_CUDA_BLOCK_H

#include "launch/cuda/grid.h"
#include "launch/cuda/runtime/cuda.h"

/* The thread block of a launch: the user's; else that of the tuning tables' row for the kernel;
 * else the one with which the most threads run at once. */

/**
 * Find what is known of a launch's kernel; it is looked up if it is new, or the tables have
 * changed.
 *
 * Errors  DEVICE, UNSUPPORTED (CUDA has no code for the kernel); those of pti_tuning_get().
 * Owns    The device owns *choice, until the next call.
 */
polytile_status pti_cuda_choose(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                pti_cuda_choice **choice);

/** Find the block of a launch by one of the kernels that were looked up. Errors: INVALID (the
 * user's block has more threads than the kernel can be launched with). */
polytile_status pti_cuda_find_block(const pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                    const pti_cuda_choice *choice, const pti_cuda_variant *variant,
                                    pti_cuda_extents *block);

/** Return the block with which the most threads run at once, without the tables. */
pti_cuda_extents pti_cuda_full_block(const pti_sub_kernel *sub_kernel,
                                     const pti_cuda_variant *variant);

#endif
