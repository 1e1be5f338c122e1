#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_TIMING_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_TIMING_H

#include "launch/cuda/runtime/cuda.h"

/*
 * The times of operations on the GPU, from pairs of events around them.
 *
 * A timed event delays its stream by 1 to 2 us. So without a trace only some hundred operations of
 * a stream, evenly spread, are timed, and the report scales their times by the stream's work over
 * theirs (threads for launches, bytes for transfers). With a trace every operation is timed.
 */

/** The times of one run, between begin and end or abandon; start, stop, harvest and watch are
 * called only then. */
typedef struct pti_cuda_timing pti_cuda_timing;

/** Create a timing, which the caller destroys. Errors: NO_MEMORY, DEVICE. */
polytile_status pti_cuda_timing_create(pti_cuda_device *cuda, pti_cuda_timing **timing);
/** Destroy a timing; NULL does nothing. */
void pti_cuda_timing_destroy(pti_cuda_timing *timing);

/** Begin a run. With a trace this waits some microseconds for an event on the idle GPU, to know the
 * time on both clocks. */
polytile_status pti_cuda_timing_begin(pti_cuda_timing *timing, pti_execution *execution);

/** Call these around the enqueuing of an operation, after its waits. A failed operation needs no
 * stop. Errors: NO_MEMORY, DEVICE. */
polytile_status pti_cuda_timing_start(pti_cuda_timing *timing, const pti_command *command);
polytile_status pti_cuda_timing_stop(pti_cuda_timing *timing, const pti_command *command);

/** Record, without waiting, which timed operations are done, update the progress bar, and reuse
 * their events. Call this after every operation; it looks only when that may pay. */
polytile_status pti_cuda_timing_harvest(pti_cuda_timing *timing);

/** Update the progress bar, if there may be one, until the timed operations are done. Call this
 * when all is enqueued, before waiting for the streams. */
polytile_status pti_cuda_timing_watch(pti_cuda_timing *timing);

/** Set the report's compute_s and transfer_s, and forget the run. Call this after waiting for the
 * streams. */
polytile_status pti_cuda_timing_end(pti_cuda_timing *timing);

/** Forget a failed run, also between start and stop; does nothing after pti_cuda_timing_end(). */
void pti_cuda_timing_abandon(pti_cuda_timing *timing);

#endif
