#ifndef POLYTILE_LAUNCH_EXECUTE_RUN_CHECK_H
#define POLYTILE_LAUNCH_EXECUTE_RUN_CHECK_H

#include "launch/device/device.h"
#include "partition/cost/demand.h"
#include "partition/window/plan.h"

/** Check that a device can run a kernel. Errors: INVALID (of another context), UNSUPPORTED (no
 * implementation for the device). */
polytile_status pti_run_check_kernel(const polytile_device *device, const polytile_kernel *kernel);

/** Compare an array with the view of the kernel's body, if known. Errors: INVALID (another type of
 * elements or number of dimensions). */
polytile_status pti_run_check_view(const polytile_kernel *kernel, int operand,
                                   const polytile_array *array);

/** Refuse to write a read-only array. Errors: INVALID. */
polytile_status pti_run_check_writable(polytile_context *ctx, const pti_instance *instance,
                                       int operand, const polytile_array *array);

/** Refuse a launch domain with steps of a kernel that has a launcher, or a CUDA kernel by hand.
 * Errors: UNSUPPORTED. */
polytile_status pti_run_check_steps(const polytile_kernel *kernel, const pti_instance *instance);

/** Return how many bytes two arrays share, and find where in a they begin; 0 if they are apart. */
uint64_t pti_run_shared_bytes(const polytile_array *a, const polytile_array *b, uint64_t *first);

/** Return another attached array of the context that shares memory with this one; NULL: none. */
const polytile_array *pti_run_find_attached(const polytile_array *array);

/** The array of each operand of a launch: one that it is given, or for scratch one that is only
 * described. */
typedef struct pti_operand_arrays {
    polytile_array *array[PTI_MAX_OPERANDS];
    polytile_array *scratch; /* owned */
} pti_operand_arrays;

void pti_operand_arrays_free(pti_operand_arrays *list);

/**
 * Check that a plan can run on a device over these arrays, and list them.
 *
 * Errors  INVALID (kernel or arrays other than planned; an array without memory; one that is
 *         written and read-only; one with a type or a number of dimensions other than the
 *         kernel body's; two that share bytes while one is written; one that shares bytes with an
 *         attached array; a plan without a limit for a device with a memory of its own;
 *         one with a limit for arrays on a GPU; and as pti_run_find_place()),
 *         UNSUPPORTED as above; NO_MEMORY.
 * Owns    The caller frees *list with pti_operand_arrays_free().
 */
polytile_status pti_run_check(const polytile_plan *plan, const polytile_device *device,
                              const polytile_kernel *kernel, polytile_array *const *arrays,
                              pti_operand_arrays *list);

#endif
