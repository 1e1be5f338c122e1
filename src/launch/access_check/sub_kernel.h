#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_SUB_KERNEL_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_SUB_KERNEL_H

#include "launch/access_check/scratch.h"
#include "launch/device/device.h"

/** The device memory that a copy takes. */
int64_t pti_sub_kernel_bytes(const pti_layout *layout);

/**
 * Run one box of threads on a device over copies of its arrays, and wait.
 *
 * A schedule like any other: in place where the device computes on the host's memory, else all of
 * the copies is uploaded before and downloaded after. Views say that what the threads touch is
 * resident, as they do when the launch itself is run; what lies around it is memory, too.
 * Shapes  scratch: one an operand.
 * Errors  Those of the device's functions.
 */
polytile_status pti_sub_kernel_run(polytile_device *device, const pti_instance *instance,
                                   const polytile_domain *threads, const pti_body *body,
                                   const pti_scratch *scratch);

#endif
