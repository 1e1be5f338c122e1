#ifndef POLYTILE_PARTITION_BOUND_STENCIL_H
#define POLYTILE_PARTITION_BOUND_STENCIL_H

#include "partition/bound/bound.h"

/* Launches that each read the neighbourhoods of what a former one wrote: how many of them one
 * memory can run between two uploads. docs/bounds.md has the formula and its proof. */

/** A row of such launches. */
typedef struct pti_stencil {
    int64_t n_steps;        /* that read both neighbours in each of some dimensions; 0: none */
    unsigned dims;          /* those, bit d: dimension d of the arrays */
    polytile_domain box;    /* elements that each of the launches writes */
    int64_t smallest_bytes; /* of an element, of all arrays of the row */
    int64_t largest_bytes;
} pti_stencil;

/** The most elements of all steps together that a number of words suffices for, each of them an
 * element of any step or of the beginning; INFINITY: no bound is known. */
double pti_stencil_most_elements(const pti_stencil *row, double n_words);

/** The uploads of the row's arrays, at least, with a memory of limit_bytes that is empty before. */
int64_t pti_stencil_bytes(const pti_stencil *row, int64_t limit_bytes);

/**
 * Find the row of launches that read both neighbours in some dimensions whose bound is highest.
 *
 * is_in_row: of each array, whether the row reads or writes it; only the last call's row counts.
 *
 * False when memory runs out; then *row has no steps.
 */
bool pti_stencil_find(int n_launches, const pti_bound_launch *launches, int n_arrays,
                      const bool *is_scratch, unsigned dims, pti_stencil *row, bool *is_in_row);

#endif
