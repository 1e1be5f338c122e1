#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_ACCESS_CHECK_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_ACCESS_CHECK_H

#include "access/footprint/instance.h"
#include "launch/device/device.h"
#include "partition/window/plan.h"
#include <polytile/check.h>

/* launch/access_check: the access checker. It runs kernels on poisoned copies of their arrays, to
 * find what they touch beside their declarations. */

/* Instances stand for what the program gave: copies are of views, where it gave views. */

/**
 * Search a launch that can run for violations of its kernel's declaration.
 *
 * Shapes  arrays: one an operand, whose memory has their newest elements. config: as the launch
 *         would run it.
 * Errors  INVALID (a violation), NO_MEMORY, NO_FIT, those of the device.
 */
polytile_status pti_access_check(polytile_device *device, const polytile_kernel *kernel,
                                 const pti_instance *instance, polytile_array *const *arrays,
                                 const pti_launch_config *config, polytile_check_report *report);

/** Check what POLYTILE_CHECK asks for: nothing, violations, or also declarations that are too wide,
 * with warnings. Errors: as above. */
polytile_status pti_access_check_asked(polytile_device *device, const polytile_kernel *kernel,
                                       const pti_instance *instance, polytile_array *const *arrays,
                                       const pti_launch_config *config);

/* use.c */

/**
 * Find how much a launch that can run reads of what it declares to read.
 *
 * Shapes  arrays, config: as for pti_access_check(). uses: one an operand.
 * Errors  NO_MEMORY, NO_FIT, those of the device.
 */
polytile_status pti_access_use(polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance, polytile_array *const *arrays,
                               const pti_launch_config *config, polytile_use *uses);

/** Log a warning for each operand of which less is read than declared. */
polytile_status pti_access_warn(polytile_device *device, const polytile_kernel *kernel,
                                const pti_instance *instance, polytile_array *const *arrays,
                                const pti_launch_config *config);

#endif
