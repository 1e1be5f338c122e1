#ifndef POLYTILE_LAUNCH_EXECUTE_EXECUTE_H
#define POLYTILE_LAUNCH_EXECUTE_EXECUTE_H

#include "launch/device/device.h"

/* launch/execute: the executor. It runs a schedule on any device, and proves it first if the user
 * asks for that. run_check.h says whether a run may begin. */

/**
 * Run a schedule on a device and wait for it; operations are submitted in the order of the list.
 * Programs' arrays are computed in no other way: with POLYTILE_CHECK=plan the schedule is proved
 * here first.
 *
 * After a failure, arrays whose host memory had begun to change are incomplete; after success,
 * arrays are complete that were before, or that a launch overwrote.
 *
 * Shapes  configs: one a launch; arrays: one an operand of the schedule's instance, of its type and
 *         domain, with memory where operations need it.
 * Errors  Those of the device's functions; the text also names the launch and the arrays left
 *         incomplete.
 *         NO_MEMORY. INTERNAL: the schedule was not proved, and nothing was run.
 * Report  The figures of what was done; plan_s and lower_bound_bytes are left alone.
 */
polytile_status pti_execute(polytile_device *device, const pti_schedule *schedule,
                            const pti_launch_config *configs, polytile_array *const *arrays,
                            polytile_report *report);

/**
 * Run a schedule that goes on from what lies on the device; arrays are neither marked nor named.
 *
 * Shapes  has_begun: one an operand of the schedule's instance, all false; set for those that a
 *         launch or a download had begun to write.
 */
polytile_status pti_execute_window(polytile_device *device, const pti_schedule *schedule,
                                   const pti_launch_config *configs, polytile_array *const *arrays,
                                   bool *has_begun, polytile_report *report);

/** Run a schedule over copies of arrays, for access checks. It moves more than its launch needs,
 * and is not proved. */
polytile_status pti_execute_copies(polytile_device *device, const pti_schedule *schedule,
                                   const pti_launch_config *configs, polytile_array *const *arrays,
                                   bool *has_begun, polytile_report *report);

#endif
