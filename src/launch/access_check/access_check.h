#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_ACCESS_CHECK_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_ACCESS_CHECK_H

#include "access/footprint/instance.h"
#include "launch/device/device.h"
#include "partition/window/plan.h"
#include <polytile/check.h>

/* launch/access_check: the access checker. It runs kernels on poisoned copies of their arrays, to
 * find what they touch beside their declarations. */

/**
 * Search a launch that can run for violations of its kernel's declaration.
 *
 * Shapes  arrays: one an operand, whose memory has their newest elements. body: as the launch would
 *         run it.
 * Errors  INVALID (a violation), NO_MEMORY, NO_FIT, those of the device.
 */
polytile_status pti_access_check(polytile_device *device, const polytile_kernel *kernel,
                                 const pti_instance *instance, polytile_array *const *arrays,
                                 const pti_body *body, polytile_check_report *report);

/** Check what POLYTILE_CHECK asks for: nothing, violations, or also declarations that are too wide,
 * with warnings. Errors: as above. */
polytile_status pti_access_check_asked(polytile_device *device, const polytile_kernel *kernel,
                                       const pti_instance *instance, polytile_array *const *arrays,
                                       const pti_body *body);

#endif
