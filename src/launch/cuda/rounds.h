#ifndef POLYTILE_LAUNCH_CUDA_ROUNDS_H
#define POLYTILE_LAUNCH_CUDA_ROUNDS_H

#include "launch/cuda/runtime/cuda.h"

/* Launchers that are called round by round. Where it can, the GPU runs all rounds but the first by
 * itself (loop.h). Else the number that says whether there is another round is copied to the host
 * after each. Nobody waits for it until something needs the launch; then all lanes go on with their
 * rounds, each when its number has come. */

/** The launches of a device whose rounds go on; NULL: there was none yet. */
typedef struct pti_cuda_rounds pti_cuda_rounds;

/** End a command that is enqueued: time it, and record it for those that wait for it. */
polytile_status pti_cuda_end_command(pti_cuda_device *cuda, const pti_command *command);

/** Go on with a launch whose first round is enqueued and has set its condition. It ends with
 * pti_cuda_end_command() when it has no more rounds. */
polytile_status pti_cuda_rounds_begin(pti_cuda_device *cuda, const pti_command *command,
                                      const int32_t *condition);

/** Enqueue all rounds of what a command waits for, and of the launch before it on its stream. Where
 * the host is going to wait for it, also see the GPU end them: only so can they be cancelled.
 * Errors: those of launchers; CANCELLED. */
polytile_status pti_cuda_rounds_await(pti_cuda_device *cuda, const pti_command *command,
                                      bool host_waits);

/** Run all rounds of all launches, and wait for their end. */
polytile_status pti_cuda_rounds_finish(pti_cuda_device *cuda);

/** After a failure: no launch has another round, and those that the GPU runs end soon. */
void pti_cuda_rounds_abandon(pti_cuda_device *cuda);

/** Free what rounds needed; NULL does nothing. */
void pti_cuda_rounds_destroy(pti_cuda_device *cuda);

#endif
