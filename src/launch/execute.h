#ifndef POLYTILE_LAUNCH_EXECUTE_H
#define POLYTILE_LAUNCH_EXECUTE_H

#include "launch/device.h"

/**
 * Run a schedule on a device and wait for it; operations are submitted in the order of the list.
 *
 * Each written array is marked incomplete before the first operation that changes its host memory,
 * and gets its mark back at the end: complete if it was before, or if the run wrote all of it.
 *
 * Shapes  bodies: one a launch; arrays: one an operand of the schedule's instance, of its type and
 *         domain, with memory where operations need it.
 * Errors  Those of the device's functions; the text also names the arrays left incomplete.
 *         NO_MEMORY.
 * Report  The figures of what was done; plan_s and lower_bound_bytes are left alone.
 */
polytile_status pti_execute(polytile_device *device, const pti_schedule *schedule,
                            const pti_body *bodies, polytile_array *const *arrays,
                            polytile_report *report);

#endif
