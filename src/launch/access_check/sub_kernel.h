#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_SUB_KERNEL_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_SUB_KERNEL_H

#include "launch/access_check/shadow_copy.h"
#include "launch/device/device.h"

/** Return the bytes of device memory that a copy takes. */
int64_t pti_sub_kernel_bytes(const pti_memory_layout *layout);

/**
 * Run one box of threads on a device over copies of its arrays, and wait.
 *
 * The schedule is in place if the device computes on the host's memory; else it uploads all copies
 * before and downloads them after. Views show what the threads touch as resident, as in the launch
 * itself; what lies around it is memory, too.
 * Shapes  scratch: one an operand.
 * Errors  Those of the device's functions.
 */
polytile_status pti_sub_kernel_run(polytile_device *device, const pti_instance *instance,
                                   const polytile_domain *threads, const pti_body *body,
                                   const pti_shadow_copy *shadow);

#endif
