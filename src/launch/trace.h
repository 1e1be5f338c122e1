#ifndef POLYTILE_LAUNCH_TRACE_H
#define POLYTILE_LAUNCH_TRACE_H

#include "launch/device.h"
#include "partition/schedule.h"

/** Write one finished operation to the device's trace, if it has one; start as of pti_now_s(). */
void pti_trace_op(polytile_device *device, const pti_schedule *schedule, const pti_op *op,
                  double start_s, double taken_s);

/**
 * Finish the device's trace, if it has one, and forget it.
 *
 * Errors  IO: not all of it could be written.
 */
polytile_status pti_trace_end(polytile_device *device);

#endif
