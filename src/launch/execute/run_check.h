#ifndef POLYTILE_LAUNCH_EXECUTE_RUN_CHECK_H
#define POLYTILE_LAUNCH_EXECUTE_RUN_CHECK_H

#include "launch/device/device.h"
#include "partition/window/plan.h"

/** Errors: INVALID (of another context), UNSUPPORTED (the device has nothing of the kernel to run).
 */
polytile_status pti_run_check_kernel(const polytile_device *device, const polytile_kernel *kernel);

/** Compare an array with what the kernel body takes it for, where that is known. Errors: INVALID
 * (another type of elements or number of dimensions). */
polytile_status pti_run_check_view(const polytile_kernel *kernel, int operand,
                                   const polytile_array *array);

/** Errors: INVALID (the operand is written, and the array is of a file opened for reading). */
polytile_status pti_run_check_writable(polytile_context *ctx, const pti_instance *instance,
                                       int operand, const polytile_array *array);

/** The bytes that the memory of two arrays has in common, and where in a they begin; 0 if they lie
 * apart. */
uint64_t pti_run_shared_bytes(const polytile_array *a, const polytile_array *b, uint64_t *first);

/** Another array of the context that is attached to a queue and shares memory with this one; NULL:
 * none. */
const polytile_array *pti_run_find_attached(const polytile_array *array);

/**
 * Whether a plan can run on a device over these arrays, before anything is touched.
 *
 * Errors  INVALID (kernel or arrays other than planned; an array without memory; one that is
 *         written and read-only; one with a type or a number of dimensions other than the
 *         kernel body's; two that share bytes while one is written; one that shares bytes with an
 *         attached array; a plan without a limit for a device with a memory of its own),
 *         UNSUPPORTED as above.
 */
polytile_status pti_run_check(const polytile_plan *plan, const polytile_device *device,
                              const polytile_kernel *kernel, polytile_array *const *arrays);

#endif
