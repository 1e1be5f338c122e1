#ifndef POLYTILE_PARTITION_BOUND_STENCIL_H
#define POLYTILE_PARTITION_BOUND_STENCIL_H

#include "partition/bound/bound.h"

/* Launches that each read neighbourhoods of what an earlier one wrote: how many of them one memory
 * can run between two uploads. docs/bounds.md has the proof. */

/** A row of such launches. */
typedef struct pti_stencil {
    int64_t n_steps;        /* that read both neighbours in each of some dimensions; 0: none */
    unsigned dims;          /* those, bit d: dimension d of the arrays */
    polytile_domain box;    /* elements that each of the launches writes */
    int64_t smallest_bytes; /* of an element, of all arrays of the row */
    int64_t largest_bytes;
} pti_stencil;

/** Return the most elements, of all steps together, that a memory of n_words can compute; INFINITY:
 * no bound is known. A word holds an element of any step or of the beginning. */
double pti_stencil_most_elements(const pti_stencil *row, double n_words);

/** Return the least uploads of the row's arrays with a memory of limit_bytes, empty before. */
int64_t pti_stencil_bytes(const pti_stencil *row, int64_t limit_bytes);

/**
 * Find the row with the highest bound of launches that read both neighbours in some dimensions.
 *
 * is_in_row: of each array, whether the row reads or writes it; only the last call's row counts.
 *
 * Returns false when memory runs out; then *row has no steps.
 */
bool pti_stencil_find(int n_launches, const pti_call *launches, int n_arrays,
                      const bool *is_scratch, unsigned dims, pti_stencil *row, bool *is_in_row);

#endif
