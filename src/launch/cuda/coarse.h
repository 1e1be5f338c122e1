#ifndef POLYTILE_LAUNCH_CUDA_COARSE_H
#define POLYTILE_LAUNCH_CUDA_COARSE_H

#include "launch/cuda/runtime/cuda.h"

/* Thread coarsening: kernels of bodies whose threads run several neighbours along the index
 * before the last, which load what they share once. */

/** Return the coarse kernel of a launch's body; none if the body has none for the launch's views,
 * or if threads combine into elements. */
pti_cuda_variant pti_cuda_coarse_of(const pti_sub_kernel *sub_kernel);

/** Find out, once a launch has as many neighbours, whether by the declaration they share enough of
 * what they read for the coarse kernel to pay. */
void pti_cuda_look_at_sharing(const pti_sub_kernel *sub_kernel, pti_cuda_choice *choice);

/**
 * Return the kernel that runs a launch.
 *
 * The coarse one, unless the user asks for a block, whose threads are then single ones; the tuning
 * tables say otherwise, or say nothing and neighbours do not share; too few threads would be left
 * to fill the GPU; or an array that is written has memory of another view. Owns: choice has it.
 */
const pti_cuda_variant *pti_cuda_variant_for(const pti_sub_kernel *sub_kernel,
                                             const pti_cuda_choice *choice);

/** Return whether a launch may run the coarse kernel, whether or not that is faster. */
bool pti_cuda_may_be_coarse(const pti_sub_kernel *sub_kernel, const pti_cuda_choice *choice);

#endif
