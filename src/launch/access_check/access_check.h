#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_ACCESS_CHECK_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_ACCESS_CHECK_H

#include "access/instance.h"
#include "launch/device.h"
#include "partition/plan.h"
#include <polytile/check.h>

/**
 * Look for violations of a kernel's declaration in a launch that is known to be one that can run.
 *
 * Shapes  arrays: one an operand, whose memory has their newest elements. block: as the user asked;
 *         NULL: not at all.
 * Errors  INVALID (a violation), NO_MEMORY, NO_FIT, those of the device.
 */
polytile_status pti_access_check(polytile_device *device, const polytile_kernel *kernel,
                                 const pti_instance *instance, polytile_array *const *arrays,
                                 const int64_t *block, polytile_check_report *report);

/** The same for a plan that was found to be one that can run on the device, over these arrays. */
polytile_status pti_access_check_plan(const polytile_plan *plan, polytile_device *device,
                                      const polytile_kernel *kernel, polytile_array *const *arrays,
                                      polytile_check_report *report);

#endif
