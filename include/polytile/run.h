#ifndef POLYTILE_RUN_H
#define POLYTILE_RUN_H

#include <polytile/device.h>
#include <polytile/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Plan a launch for a device, run it and wait for it.
 *
 * The plan fits the device's limit, options->plan.limit_bytes if smaller, and what other programs
 * leave free of the device's memory. options may be NULL; without a link in it the device's own is
 * assumed.
 *
 * Errors  As polytile_plan_create(); INVALID (an array without memory, a written array that is
 *         read-only, arrays that overlap in memory where one of them is written, one that is
 *         attached to a queue or overlaps an array that is); UNSUPPORTED (the kernel has no
 *         implementation for the device); DEVICE. After an error arrays that are only read are
 *         unchanged; arrays that were being written are incomplete and named in the text.
 */
polytile_status polytile_run(polytile_device *device, const polytile_kernel *kernel,
                             const polytile_domain *domain, int n_arrays,
                             polytile_array *const *arrays, const polytile_launch_options *options);

/**
 * Run a plan, any number of times, over arrays of the same types and domains.
 *
 * Shapes  options: their parameters alone count. Those that subscripts name may be left out, since
 *         the plan has their values; NULL: none is given.
 * Errors  As polytile_run(); INVALID (a parameter that subscripts name, with another value than the
 *         plan's).
 */
polytile_status polytile_plan_run(const polytile_plan *plan, polytile_device *device,
                                  const polytile_kernel *kernel, int n_arrays,
                                  polytile_array *const *arrays,
                                  const polytile_launch_options *options);

/** Get the report of the last run on this device; all zero before the first. */
void polytile_device_get_report(const polytile_device *device, polytile_report *report);

#ifdef __cplusplus
}
#endif

#endif
