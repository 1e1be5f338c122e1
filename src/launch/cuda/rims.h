#ifndef POLYTILE_LAUNCH_CUDA_RIMS_H
#define POLYTILE_LAUNCH_CUDA_RIMS_H

#include "launch/cuda/runtime/cuda.h"

/** The threads of a launch that stay within the ends of arrays, and those around them. */
typedef struct pti_cuda_rims {
    polytile_domain inner;
    int n_rims;
    polytile_domain rim[2 * POLYTILE_MAX_DIMS]; /* disjoint; together with inner they are the box */
} pti_cuda_rims;

/** Peel boxes off a box until another one in it is left, the first index first. Where takes_steps,
 * two opposite rims of one thread each are one, with the way between them as its step. */
pti_cuda_rims pti_cuda_rims_around(const polytile_domain *inner, const polytile_domain *threads,
                                   bool takes_steps);

/** Enqueues a launch, whose threads have steps of 1. */
typedef polytile_status pti_cuda_enqueue(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel);

/**
 * Enqueue a launch in which some threads have indices beyond the ends of arrays as several ones: of
 * the threads that have none, by a kernel that does not look for them, and of the rims around
 * these. Several launches are worth it where the inner threads fill the GPU.
 *
 * Of an array in several pieces, as those at the ends of a ring are, the inner threads touch one.
 * Launches that combine threads' results stay whole, and so do those of kernels that have no faster
 * one.
 *
 * Shapes  enqueue: enqueues a part. *is_cut: whether that was done; else nothing was enqueued.
 * Errors  Those of enqueue.
 */
polytile_status pti_cuda_launch_rims(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                     pti_cuda_enqueue *enqueue, bool *is_cut);

#endif
