#ifndef POLYTILE_LAUNCH_DEVICE_TRACE_H
#define POLYTILE_LAUNCH_DEVICE_TRACE_H

#include "launch/device/device.h"
#include "partition/schedule/schedule.h"

/* What devices did, as JSON for chrome://tracing and Perfetto. Each device is a process. It has a
 * track for each stream, on which a slice for each run encloses those of its operations, and one
 * for the thread that plans. Viewers demand that slices never overlap in part: if clocks or
 * rounding disagree, an operation begins when the one before it ended, and a run ends with its last
 * operation. Times are those of pti_now_s(). Without a trace these functions cost nothing. */

/**
 * Trace devices into one file, from now on: each is a process of it. Traces that they have end.
 * NULL only ends these. Nothing runs on the devices.
 *
 * Errors  IO (the file cannot be written, or one that ended could not), NO_MEMORY; none is traced.
 */
polytile_status pti_trace_begin(polytile_context *ctx, int n_devices,
                                polytile_device *const *devices, const char *path);

/** Say that no plan of the device's next run can move less, both ways together. */
void pti_trace_bound(polytile_device *device, int64_t bound_bytes);

/** Trace the beginning of a run. schedule is borrowed until pti_trace_run_end(). */
void pti_trace_run_begin(polytile_device *device, const pti_schedule *schedule);

/** Go on to a stretch of the schedule that runs, after first_superblock superblocks. It is
 * borrowed as the schedule is. */
void pti_trace_run_go_on(polytile_device *device, const pti_schedule *stretch,
                         int64_t first_superblock);

/** Trace an operation that has finished; those of one stream come in their order. */
void pti_trace_op(polytile_device *device, const pti_op *op, double start_s, double taken_s);

/** Trace the end of the run, successful or not. */
void pti_trace_run_end(polytile_device *device);

/** Trace what was planned for the device from start_s until now, by its queue's thread. */
void pti_trace_plan(polytile_device *device, const char *subject, double start_s);

/** Trace what the program's thread did for several devices from start_s until now, into the file of
 * one of them: "wait cuda:1". */
void pti_trace_program(polytile_device *device, const char *word, const char *subject,
                       double start_s);

/**
 * Finish the device's trace, if it has one, and forget it.
 *
 * Errors  IO: not all of it could be written.
 */
polytile_status pti_trace_end(polytile_device *device);

#endif
