#ifndef POLYTILE_LAUNCH_DEVICE_TRACE_H
#define POLYTILE_LAUNCH_DEVICE_TRACE_H

#include "launch/device/device.h"
#include "partition/schedule/schedule.h"

/* What a device did, as JSON for chrome://tracing and Perfetto: one track a stream, on which a
 * slice for each run encloses those of its operations. Viewers demand that slices never overlap in
 * part: if clocks or rounding disagree, an operation begins when the one before it ended, and a run
 * ends with its last operation. Times are those of pti_now_s(). Without a trace these functions
 * cost nothing. */

/** Trace the beginning of a run. schedule is borrowed until pti_trace_run_end(). */
void pti_trace_run_begin(polytile_device *device, const pti_schedule *schedule);

/** Trace an operation that has finished; those of one stream come in their order. */
void pti_trace_op(polytile_device *device, const pti_op *op, double start_s, double taken_s);

/** Trace the end of the run, successful or not. */
void pti_trace_run_end(polytile_device *device);

/**
 * Finish the device's trace, if it has one, and forget it.
 *
 * Errors  IO: not all of it could be written.
 */
polytile_status pti_trace_end(polytile_device *device);

#endif
