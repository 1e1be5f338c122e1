#ifndef POLYTILE_LAUNCH_RUN_CHECK_H
#define POLYTILE_LAUNCH_RUN_CHECK_H

#include "launch/device.h"
#include "partition/plan.h"

/** Errors: INVALID (of another context), UNSUPPORTED (the device has nothing of the kernel to run).
 */
polytile_status pti_run_check_kernel(const polytile_device *device, const polytile_kernel *kernel);

/**
 * Whether a plan can run on a device over these arrays, before anything is touched.
 *
 * Errors  INVALID (kernel or arrays other than planned; an array without memory; one that is
 * written and read-only; one with an element size or a number of dimensions other than the kernel
 * body's; two that share bytes while one is written; a plan without a limit for a device with a
 * memory of its own), UNSUPPORTED as above.
 */
polytile_status pti_run_check(const polytile_plan *plan, const polytile_device *device,
                              const polytile_kernel *kernel, polytile_array *const *arrays);

#endif
