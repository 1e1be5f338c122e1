#ifndef POLYTILE_ACCESS_PROOF_H
#define POLYTILE_ACCESS_PROOF_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/* What isl proves of launches beyond what every launch is checked for in closed form. Not for the
 * planner: a proof takes tenths of a millisecond at best. */

/**
 * Prove that no thread's access lies outside its array with all its elements, also where what was
 * declared in braces is no section, and where a section's step leaps over the array.
 *
 * Accesses in braces that bound no element, as in {[i] -> A[a] : a != i}, are meant to be clipped
 * and never lie outside.
 *
 * Errors  DECLARATION (with a witness), UNSUPPORTED (isl's operation limit is reached), NO_MEMORY.
 */
polytile_status pti_prove_inside(const polytile_kernel *kernel, const pti_instance *instance);

/** A launch of several, and which array each of its operands is. */
typedef struct pti_proved_launch {
    const polytile_kernel *kernel;
    const pti_instance *instance;
    const int *array; /* of each operand */
} pti_proved_launch;

/** An array that has no contents at the start, and of its elements some that were surely
 * written. */
typedef struct pti_blank_array {
    int array;
    const char *name;  /* borrowed */
    pti_boxes written; /* owned */
} pti_blank_array;

/**
 * Prove that the last of several launches reads nothing of a blank array but what a launch before
 * it wrote.
 *
 * `out` writes every element of its section, and reductions from the identity too; a launch's own
 * writes do not count for its reads. Exact: what is declared in braces counts as declared.
 *
 * Errors  DECLARATION (with a witness), UNSUPPORTED (isl's operation limit is reached), NO_MEMORY.
 */
polytile_status pti_prove_initialised(int n_launches, const pti_proved_launch *launches,
                                      const pti_blank_array *blank);

/** Note what a launch surely writes of a blank array: it spares later proofs isl. */
void pti_note_written(const pti_proved_launch *launch, pti_blank_array *blank);

#endif
