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

#endif
