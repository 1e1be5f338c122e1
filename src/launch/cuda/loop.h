#ifndef POLYTILE_LAUNCH_CUDA_LOOP_H
#define POLYTILE_LAUNCH_CUDA_LOOP_H

#include "launch/cuda/runtime/cuda.h"

/* Rounds of a launcher that the GPU runs by itself: a CUDA graph, whose WHILE node repeats a round
 * that was captured. no_loop/ is for CUDA before 13, and always leaves rounds to the host. */

/** The device memory that CUDA takes for the loop of a lane, as measured on a Hopper GPU. */
enum { PTI_LOOP_BYTES = 256 << 10 };

/** What a device needs for loops; NULL: there was none yet. */
typedef struct pti_cuda_loops pti_cuda_loops;

/**
 * Enqueue all rounds of a launch after its first one as a loop on the GPU. The launcher is called
 * for the second round, which is captured: the GPU runs it as long as the number at the launcher's
 * condition is not 0.
 *
 * Shapes  first: the launch after its first round, which has set the condition. stop: a number in
 *         pinned memory. Once it is not 0 the loop ends after some more rounds.
 * Errors  None. It returns false if that cannot be done: then nothing was enqueued, the host is to
 *         enqueue the rounds, and the log says why, once a launcher.
 */
bool pti_cuda_loop_enqueue(pti_cuda_device *cuda, const pti_sub_kernel *first, const int32_t *stop);

/** Free what loops needed; NULL does nothing. */
void pti_cuda_loops_destroy(pti_cuda_device *cuda);

#endif
