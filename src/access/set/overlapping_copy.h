#ifndef POLYTILE_ACCESS_SET_OVERLAPPING_COPY_H
#define POLYTILE_ACCESS_SET_OVERLAPPING_COPY_H

#include "access/set/memory_layout.h"

/* Copies whose source and target overlap: both begin at the same byte, and their boxes begin
 * differently along one dimension. All elements move by the same distance in memory, in slices no
 * longer than that distance, so no slice overlaps its target. */

/** The slices of a copy that are still to be made. */
typedef struct pti_overlapping_copy {
    polytile_domain left; /* to be copied */
    int dim;              /* in which elements move */
    int64_t n_at_once;    /* elements along it; 0: none moves */
    bool is_rising;       /* the first elements go first */
} pti_overlapping_copy;

/** Find the slices of a box for a copy between two layouts at the same place. False if elements do
 * not all move by the same distance along one dimension. */
bool pti_overlapping_begin(const pti_memory_layout *from, const pti_memory_layout *to,
                           const polytile_domain *box, pti_overlapping_copy *slices);

/** Return the whole box as one slice. */
pti_overlapping_copy pti_overlapping_whole(const polytile_domain *box);

/** Take the next slice; false if none is left. */
bool pti_overlapping_next(pti_overlapping_copy *slices, polytile_domain *slice);

#endif
