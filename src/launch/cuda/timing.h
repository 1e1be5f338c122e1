#ifndef POLYTILE_LAUNCH_CUDA_TIMING_H
#define POLYTILE_LAUNCH_CUDA_TIMING_H

#include "launch/cuda/cuda.h"

/* How long operations took on the GPU, from pairs of events around them.
 *
 * An event that takes the time delays its stream by 1 to 2 us. So without a trace, of a stream with
 * many operations only some hundred, evenly spread, are timed, and the report's times are those of
 * the timed ones times the stream's work over theirs (threads for launches, bytes for transfers).
 * With a trace every operation is timed. */

typedef struct pti_cuda_timing pti_cuda_timing;

polytile_status pti_cuda_timing_create(pti_cuda_device *cuda, pti_cuda_timing **timing);
void pti_cuda_timing_destroy(pti_cuda_timing *timing);

/** Get ready for a run; notes the time on both clocks. */
polytile_status pti_cuda_timing_begin(pti_cuda_timing *timing, pti_execution *execution);

/** Around the enqueuing of an operation, after its waits. */
polytile_status pti_cuda_timing_start(pti_cuda_timing *timing, const pti_command *command);
polytile_status pti_cuda_timing_stop(pti_cuda_timing *timing, const pti_command *command);

/** Look, without waiting, at which timed operations are done: note them, tell the progress bar, and
 * use their events again. */
polytile_status pti_cuda_timing_harvest(pti_cuda_timing *timing);

/** After the streams were waited for: fill in the report's compute_s and transfer_s. */
polytile_status pti_cuda_timing_end(pti_cuda_timing *timing);

/** Forget a run that failed. */
void pti_cuda_timing_abandon(pti_cuda_timing *timing);

#endif
