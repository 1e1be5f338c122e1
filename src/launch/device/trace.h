#ifndef POLYTILE_LAUNCH_DEVICE_TRACE_H
#define POLYTILE_LAUNCH_DEVICE_TRACE_H

#include "launch/device/device.h"
#include "partition/schedule/schedule.h"

/* What a device did, as JSON for chrome://tracing and Perfetto: one track a stream, on which a
 * slice for each run encloses those of its operations. Slices of a track never overlap in part, as
 * viewers demand: where clocks or rounding disagree, an operation begins when the one before it on
 * its track ended, and a run ends with the last of its operations. All times are those of
 * pti_now_s(). A device without a trace is told nothing and costs nothing. */

/** A run begins on the device. schedule is borrowed until pti_trace_run_end(). */
void pti_trace_run_begin(polytile_device *device, const pti_schedule *schedule);

/** One operation of the run has finished; those of one stream come in their order. */
void pti_trace_op(polytile_device *device, const pti_op *op, double start_s, double taken_s);

/** The run is over, whether or not it succeeded. */
void pti_trace_run_end(polytile_device *device);

/**
 * Finish the device's trace, if it has one, and forget it.
 *
 * Errors  IO: not all of it could be written.
 */
polytile_status pti_trace_end(polytile_device *device);

#endif
