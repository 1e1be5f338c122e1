#ifndef POLYTILE_ACCESS_LAG_H
#define POLYTILE_ACCESS_LAG_H

#include "access/footprint/instance.h"

/* How far a launch must stay behind an earlier one, where both are cut into slabs of threads and
 * the slabs of both take turns. */

/** A launch over arrays that it shares with others, and the index along which it is cut. */
typedef struct pti_cut_launch {
    const pti_instance *instance;
    const int *array; /* of each operand: which array it is */
    int index;        /* along which it is cut */
} pti_cut_launch;

/** What keeps two launches apart. */
typedef struct pti_lag {
    bool conflicts;  /* they touch a common element, and one of them writes it */
    int64_t threads; /* the most by which the index of a thread of the earlier launch exceeds that
                        of a thread of the later one that it conflicts with; 0 if none does */
} pti_lag;

/**
 * The lag of a later launch behind an earlier one: if thread j of it may run no sooner than every
 * thread i <= j + lag of the earlier one has run, all conflicts between the two keep their order.
 *
 * Negative where the later launch may even run ahead. Combining counts as reading and writing.
 * Never too small, and never more than the launch domains allow; exact where sections are and no
 * operand is partial, of which every thread counts as touching all of the launch's hull. Closed
 * forms where sections are boxes; else isl over the sections (what was declared in braces counts as
 * the section around it), and where that gives up, what the launch domains allow.
 *
 * Errors  NO_MEMORY (isl), without a text, since there is no context here; *lag is then as it was.
 */
polytile_status pti_launch_lag(const pti_cut_launch *earlier, const pti_cut_launch *later,
                               pti_lag *lag);

#endif
