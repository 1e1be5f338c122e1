#ifndef POLYTILE_ACCESS_FOOTPRINT_FOLD_H
#define POLYTILE_ACCESS_FOOTPRINT_FOLD_H

#include "access/footprint/instance.h"
#include "base/context.h"

/**
 * A periodic launch, folded: rows that are equally far from the ends of an array
 * lie beside each other.
 *
 *      0 1 2 ... M-1          the lower half, in order
 *      N-1 N-2 ...  M         the upper half, from its end
 *
 * Rows that are neighbours of a periodic array are neighbours on the fold, or lie opposite: a chain
 * of periodic launches has two ends along the fold, as others have along an index, and no slab
 * needs what is complete only after the last one.
 */
struct pti_fold {
    pti_instance
        *instance;  /* of the same threads, whose arrays that go round are pieces, a half each:
                               the lower one has the array's place among operands; owned */
    int index;      /* of the threads, which go round along it */
    int64_t n_rows; /* of the periodic array */
    int *axis;      /* of each array the dimension that goes round; -1: it is read whole; owned */
    int64_t *reach; /* of each array the most rows from a thread to what it touches there; owned */
};

/**
 * Give an instance its fold, if it has one: its threads go once round all arrays that they write,
 * some subscript wraps, and what runs them takes pieces.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_instance_add_fold(polytile_context *ctx, pti_instance *instance);

/* instance.c */

void pti_fold_free(struct pti_fold *fold);

#endif
