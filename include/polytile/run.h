#ifndef POLYTILE_RUN_H
#define POLYTILE_RUN_H

#include <polytile/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the last run on a device did and took. */
typedef struct polytile_report {
    int64_t n_kernels;
    int64_t peak_device_bytes;
    int64_t h2d_bytes;
    int64_t d2h_bytes;
    int64_t p2p_bytes; /* from the memory of linked devices */
    int64_t lower_bound_bytes;
    double plan_s;
    double total_s;    /* planning not included */
    double compute_s;  /* of kernels; on CUDA by events around some of them, for all; of those that
                          run side by side, of one side */
    double transfer_s; /* of transfers, likewise; both ways added up, so it may exceed total_s */
} polytile_report;

/**
 * Plan a launch for a device, run it and wait for it.
 *
 * The device's limit holds; a smaller options->limit_bytes narrows it further. While other programs
 * hold a part of the device's memory the plan is made for what is free. options may be NULL;
 * without a link in it the device's own is assumed.
 *
 * Errors  As polytile_plan_create(); INVALID (an array without memory, a written array that is
 *         read-only, arrays that overlap in memory where one of them is written, one that is
 *         attached to a queue or overlaps an array that is); UNSUPPORTED (the kernel has no
 *         implementation for the device); DEVICE. After an error arrays that are only read are
 *         unchanged; an array that was being written is marked incomplete and named in the text.
 */
polytile_status polytile_run(polytile_device *device, const polytile_kernel *kernel,
                             const polytile_domain *domain, polytile_array *const *arrays,
                             const polytile_plan_options *options);

/** Run a plan made before, any number of times, over arrays of the same types and domains. Errors
 * as polytile_run(). */
polytile_status polytile_plan_run(const polytile_plan *plan, polytile_device *device,
                                  const polytile_kernel *kernel, polytile_array *const *arrays);

/** What the last run on this device did; all zero before the first. */
void polytile_device_get_report(const polytile_device *device, polytile_report *report);

#ifdef __cplusplus
}
#endif

#endif
