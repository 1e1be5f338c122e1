#ifndef POLYTILE_ACCESS_PROOF_H
#define POLYTILE_ACCESS_PROOF_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/* What isl proves of launches beyond the checks in closed form of every launch. A proof takes
 * tenths of a millisecond at least, too long for the planner. */

/**
 * Prove that no thread's access lies wholly outside its array, also for braces that are no section,
 * and for sections whose step passes over the array.
 *
 * Accesses in braces that bound no element, as {[i] -> A[a] : a != i}, are clipped and never lie
 * outside.
 *
 * Errors  DECLARATION (with a witness), UNSUPPORTED (isl's operation limit is reached), NO_MEMORY.
 */
polytile_status pti_prove_inside(const polytile_kernel *kernel, const pti_instance *instance);

/** One launch of several, with its kernel, of whose relations isl is asked. */
typedef struct pti_proved_launch {
    const polytile_kernel *kernel;
    pti_call call;
} pti_proved_launch;

/** An array without contents at the start, and a set of elements that were surely written. */
typedef struct pti_blank_array {
    int array;
    const char *name;  /* borrowed */
    pti_boxes written; /* owned */
} pti_blank_array;

/**
 * Prove that the last of several launches reads of a blank array only what earlier launches wrote.
 *
 * `out` and fresh reductions write every element of their section. A launch's own writes do not
 * count for its reads. Exact: braces count as declared.
 *
 * Errors  DECLARATION (with a witness), UNSUPPORTED (isl's operation limit is reached), NO_MEMORY.
 */
polytile_status pti_prove_initialised(int n_launches, const pti_proved_launch *launches,
                                      const pti_blank_array *blank);

/** Record what a launch surely writes of a blank array, which spares later proofs isl. */
void pti_note_written(const pti_proved_launch *launch, pti_blank_array *blank);

#endif
