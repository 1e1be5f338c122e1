#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_TIMING_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_TIMING_H

#include "launch/cuda/runtime/cuda.h"

/* How long operations took on the GPU, from pairs of events around them.
 *
 * An event that takes the time delays its stream by 1 to 2 us. So without a trace, of a stream with
 * many operations only some hundred, evenly spread, are timed, and the report's times are those of
 * the timed ones times the stream's work over theirs (threads for launches, bytes for transfers).
 * With a trace every operation is timed. */

/** Between begin and end or abandon it follows one run; start, stop, harvest and
 * watch are called only then. */
typedef struct pti_cuda_timing pti_cuda_timing;

/** Errors: NO_MEMORY, DEVICE. Owned by the caller, until pti_cuda_timing_destroy(). */
polytile_status pti_cuda_timing_create(pti_cuda_device *cuda, pti_cuda_timing **timing);
/** NULL does nothing. */
void pti_cuda_timing_destroy(pti_cuda_timing *timing);

/** Get ready for a run. With a trace it also waits for an event on the idle GPU, some microseconds,
 * to know the time on both clocks. */
polytile_status pti_cuda_timing_begin(pti_cuda_timing *timing, pti_execution *execution);

/** Around the enqueuing of an operation, after its waits. An operation that failed in between needs
 * no stop. Errors: NO_MEMORY, DEVICE. */
polytile_status pti_cuda_timing_start(pti_cuda_timing *timing, const pti_command *command);
polytile_status pti_cuda_timing_stop(pti_cuda_timing *timing, const pti_command *command);

/** Look, without waiting, at which timed operations are done: note them, tell the progress bar, and
 * use their events again. To be called after every operation; it really looks when that may pay. */
polytile_status pti_cuda_timing_harvest(pti_cuda_timing *timing);

/** If there may be a progress bar, keep it up to date until the timed operations are done; else
 * return at once. To be called when all is enqueued, before the streams are waited for. */
polytile_status pti_cuda_timing_watch(pti_cuda_timing *timing);

/** After the streams were waited for: fill in the report's compute_s and transfer_s, and forget the
 * run. */
polytile_status pti_cuda_timing_end(pti_cuda_timing *timing);

/** Forget a run that failed, also between start and stop; after pti_cuda_timing_end() it does
 * nothing. */
void pti_cuda_timing_abandon(pti_cuda_timing *timing);

#endif
