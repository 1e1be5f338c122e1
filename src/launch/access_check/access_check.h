#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_ACCESS_CHECK_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_ACCESS_CHECK_H

#include "access/footprint/instance.h"
#include "launch/device/device.h"
#include "partition/window/plan.h"
#include <polytile/check.h>

/* launch/access_check: the access checker. It runs kernels on poisoned copies of their arrays,
 * to see what they touch beside their declarations. */

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

/** What POLYTILE_CHECK asks for: nothing, such a check, or also warnings of what is declared too
 * wide. Errors: as above. */
polytile_status pti_access_check_asked(polytile_device *device, const polytile_kernel *kernel,
                                       const pti_instance *instance, polytile_array *const *arrays,
                                       const int64_t *block);

#endif
