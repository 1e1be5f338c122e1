#ifndef POLYTILE_LAUNCH_CUDA_TUNE_H
#define POLYTILE_LAUNCH_CUDA_TUNE_H

#include "launch/cuda/runtime/cuda.h"

/* POLYTILE_TUNE=1: thread blocks measured on a program's own launches. */

/**
 * Whether a launch's blocks are to be measured: it was asked for, no block was given, no table has
 * a row for the kernel, the launch fills the GPU, and it may be repeated, since it reads nothing
 * that it writes. One that may not be says so once, at the log level info, and is left alone.
 */
bool pti_cuda_wants_tuning(const pti_cuda_device *cuda, const pti_launch *launch,
                           pti_cuda_choice *choice);

/**
 * Run a launch with several blocks, and have the tuning tables learn which is the fastest. Waits
 * for the compute stream; every run writes what the launch is to write. What takes too long is cut
 * short.
 *
 * Errors  As pti_cuda_launch().
 */
polytile_status pti_cuda_tune(pti_cuda_device *cuda, const pti_launch *launch,
                              pti_cuda_choice *choice);

#endif
