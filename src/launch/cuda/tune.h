#ifndef POLYTILE_LAUNCH_CUDA_TUNE_H
#define POLYTILE_LAUNCH_CUDA_TUNE_H

#include "launch/cuda/runtime/cuda.h"

/* POLYTILE_TUNE=1 measures thread blocks on a program's own launches. */

/**
 * Return whether to measure blocks for a launch: the user asks for it and gives no block, no table
 * has a row for the kernel, and the launch fills the GPU and may be repeated, since it reads
 * nothing that it writes. One that may not be is logged once, at level info.
 */
bool pti_cuda_wants_tuning(const pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                           pti_cuda_choice *choice);

/**
 * Run a launch with several blocks, and let the tuning tables learn the fastest. Waits for the
 * compute stream; every run writes what the launch writes. A time limit ends it.
 *
 * Errors  As pti_cuda_launch().
 */
polytile_status pti_cuda_tune(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                              pti_cuda_choice *choice);

#endif
