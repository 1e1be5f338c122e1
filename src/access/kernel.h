#ifndef POLYTILE_ACCESS_KERNEL_H
#define POLYTILE_ACCESS_KERNEL_H

#include "access/declare/kernel.h"

/* What a launch asks of its kernel, and how long a kernel is kept. */

/** Return whether all that a kernel runs finds elements of arrays in pieces; one that runs nothing
 * is planned as if it did. */
bool pti_takes_pieces(const polytile_implementation *implementation);

/** Return whether sub-kernels may run side by side; launchers of GPUs may have memory of their own,
 * which one call uses after the other, unless they say that they have none. */
bool pti_may_run_concurrently(const polytile_implementation *implementation);

/** Return whether few threads are much work, so that sub-kernels of a launch are run in lanes: each
 * thread has a thread block, or what a launcher enqueues. A kernel that runs nothing is planned as
 * if it were so. */
bool pti_runs_in_lanes(const polytile_implementation *implementation);

/** Refuse a launch without a kernel or a domain; where names the device or the caller. Errors:
 * INVALID. */
polytile_status pti_kernel_check_launch(polytile_context *ctx, const char *where,
                                        const polytile_kernel *kernel,
                                        const polytile_domain *domain);
/** Refuse a list that has not as many arrays as the kernel. Errors: INVALID. */
polytile_status pti_kernel_check_arrays(polytile_context *ctx, const polytile_kernel *kernel,
                                        int n_arrays, polytile_array *const *arrays);

/** List the array of each operand of a launch, out of those that it is given; NULL: scratch.
 * Shapes  operands: as many as the declaration has arrays. */
void pti_kernel_list_operands(const polytile_kernel *kernel, polytile_array *const *arrays,
                              polytile_array **operands);

/** Replace what a kernel runs; who runs it has a copy of what it was. Errors: as
 * polytile_kernel_create(). */
polytile_status pti_kernel_bind(polytile_kernel *kernel,
                                const polytile_implementation *implementation);

/**
 * Keep a kernel, which the program may destroy meanwhile, until as many calls of release.
 *
 * For the thread that uses the context, and never beyond the context's end. Keeps the declaration
 * and what was proved of it; what its implementation points to is the program's.
 */
void pti_kernel_retain(const polytile_kernel *kernel);
/** Release a kernel; NULL does nothing. */
void pti_kernel_release(const polytile_kernel *kernel);

#endif
