#ifndef POLYTILE_ACCESS_CONFLICT_H
#define POLYTILE_ACCESS_CONFLICT_H

#include "access/declare/declaration.h"
#include "access/footprint/instance.h"

/* access: what is found out of whole kernels and launches: conflicts between threads (here), how
 * far launches stay apart (lag.h), proofs (proof.h), and the registration of kernels (kernel.c). */

/* Two threads conflict if both write an element without a common reducing role, or one writes an
 * element that the other reads. Two names conflict that one array is given for, if one writes an
 * element that the other touches, be it in one thread. */

/**
 * Classify a declaration once, at registration, over all domains and arrays: by closed forms, else
 * by isl.
 *
 * Errors  NO_MEMORY. If isl gives up (max_operations), the class is PTI_CONFLICT_DEPENDS.
 */
polytile_status pti_conflict_classify(const polytile_kernel *kernel,
                                      pti_conflict_class *conflict_class);

/**
 * Prove that a launch has no conflict, and that names of one array touch different elements if one
 * of them writes any.
 *
 * Errors  CONFLICT: "smooth: threads [1] and [2] conflict on A[1]: [1] writes it (out A[i]) and [2]
 *         reads it (in A[i-1]); ..." with what to do; UNSUPPORTED when isl's operation limit is
 *         reached, and for two names of which one is moved as the box around its elements where the
 *         other one has some.
 */
polytile_status pti_conflict_check(const polytile_kernel *kernel, const pti_instance *instance);

/* conflict_closed.c */

/**
 * Prove in closed form that different threads never touch one element through two accesses of an
 * array, whatever the launch domain, the array and the parameters are.
 *
 * Uses the dimensions in which both name one element with the same coefficients. A difference that
 * no integers make up keeps the accesses apart; an equation in one open index settles it. False
 * means unknown.
 */
bool pti_accesses_never_meet(const polytile_declaration *declaration, const pti_access *a,
                             const pti_access *b);

#endif
