#ifndef POLYTILE_ACCESS_LAG_H
#define POLYTILE_ACCESS_LAG_H

#include "access/instance.h"

/* How far a launch must stay behind an earlier one, where both are cut into slabs of threads and the
 * slabs of both take turns. */

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
                        of a thread of the later one that it conflicts with; never too small, and
                        exact where sections are */
} pti_lag;

/**
 * The lag of a later launch behind an earlier one: if thread j of it may run no sooner than every
 * thread i <= j + lag of the earlier one has run, all conflicts between the two keep their order.
 *
 * Negative where the later launch may even run ahead. Never more than the domains allow. Combining
 * counts as reading and writing. Closed forms where every dimension of a section is a window that
 * follows one index or none, else isl over the sections; where isl gives up, what the domains allow.
 *
 * Errors  NO_MEMORY (isl).
 */
polytile_status pti_launch_lag(const pti_cut_launch *earlier, const pti_cut_launch *later,
                               pti_lag *lag);

#endif
