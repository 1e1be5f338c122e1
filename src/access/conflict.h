#ifndef POLYTILE_ACCESS_CONFLICT_H
#define POLYTILE_ACCESS_CONFLICT_H

#include "access/footprint/instance.h"

/* access: what is found out of whole kernels and launches: conflicts between threads (here), how
 * far launches stay apart (lag.h), proofs (proof.h), and the registration of kernels (kernel.c). */

/* Two threads conflict if both write an element without a common reducing role, or one writes an
 * element that the other reads. */

/**
 * Classify a declaration once, at registration, over all domains and arrays: by closed forms, else
 * by isl.
 *
 * Errors  NO_MEMORY. If isl gives up (max_operations), the class is PTI_CONFLICT_DEPENDS.
 */
polytile_status pti_conflict_classify(const polytile_kernel *kernel,
                                      pti_conflict_class *conflict_class);

/**
 * Prove that a launch has no conflict.
 *
 * Errors  CONFLICT: "smooth: threads [1] and [2] conflict on A[1]: [1] writes it (out A[i]) and [2]
 *         reads it (in A[i-1]); ..." with what to do; UNSUPPORTED when isl's operation limit is
 *         reached.
 */
polytile_status pti_conflict_check(const polytile_kernel *kernel, const pti_instance *instance);

#endif
