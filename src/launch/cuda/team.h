#ifndef POLYTILE_LAUNCH_CUDA_TEAM_H
#define POLYTILE_LAUNCH_CUDA_TEAM_H

#include "launch/cuda/runtime/cuda.h"

/* Team kernels on a GPU: a slot is a thread block, and all are resident together. team_memory.h has
 * what they share with their server, and how that reaches their data while they run. */

/**
 * Run a launch of a team kernel, and serve its slots until they have returned. What it needs is
 * allocated and loaded before: nothing that is enqueued meanwhile waits for the kernel.
 *
 * Errors  NO_FIT (the slots cannot all be resident), DEVICE, UNSUPPORTED, NO_MEMORY, and what ends
 *         the launch, as polytile/message.h has it.
 */
polytile_status pti_cuda_run_team(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel);

/** Free what team kernels needed; NULL does nothing. */
void pti_cuda_team_destroy(struct pti_cuda_team *team);

#endif
