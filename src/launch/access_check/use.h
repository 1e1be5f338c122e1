#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_USE_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_USE_H

#include "launch/device/device.h"
#include "partition/window/plan.h"
#include <polytile/check.h>

/**
 * Find how much a launch that can run reads of what it declares to read.
 *
 * Shapes  arrays, body: as for pti_access_check(). uses: one an operand.
 * Errors  NO_MEMORY, NO_FIT, those of the device.
 */
polytile_status pti_access_use(polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance, polytile_array *const *arrays,
                               const pti_body *body, polytile_use *uses);

/** Log a warning for each operand of which less is read than declared. */
polytile_status pti_access_warn(polytile_device *device, const polytile_kernel *kernel,
                                const pti_instance *instance, polytile_array *const *arrays,
                                const pti_body *body);

#endif
