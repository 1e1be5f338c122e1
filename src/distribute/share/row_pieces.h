#ifndef POLYTILE_DISTRIBUTE_SHARE_ROW_PIECES_H
#define POLYTILE_DISTRIBUTE_SHARE_ROW_PIECES_H

#include "queue/queue.h"

/* Rows of a launch, all threads that agree in its first index, that reduce into the same elements:
 * they are cut into pieces that the launch alone fixes, which are dealt out in place of rows. Each
 * has partial results of its own, so that results do not depend on who runs what. */

/** An operand whose elements several rows reduce into. */
typedef struct pti_row_sum {
    int operand;
    polytile_domain box;      /* around all that any thread reduces into */
    pti_memory_layout layout; /* of that */
} pti_row_sum;

/** The pieces of a launch, and the sums for which it is cut. */
typedef struct pti_row_pieces {
    int n_sums; /* 0: rows themselves are dealt out */
    pti_row_sum sum[PTI_MAX_OPERANDS];
    int64_t n_pieces;
} pti_row_pieces;

/** Find the sums of a launch, and in how many pieces it is cut for them. Returns why it cannot be;
 * NULL: it can, or has none. */
const char *pti_row_pieces_find(const pti_prepared *prepared, pti_row_pieces *pieces);

/** Return whether a launch has sums, if its threads write anything. */
bool pti_row_pieces_are_asked(const pti_instance *instance);

/** Return whether an operand is one of the sums. */
bool pti_row_pieces_have(const pti_row_pieces *pieces, int operand);

/** Threads of count consecutive rows, or pieces in place of them. */
polytile_domain pti_row_pieces_threads(const pti_row_pieces *pieces, const pti_instance *instance,
                                       int64_t first, int64_t count);

#endif
