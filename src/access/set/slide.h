#ifndef POLYTILE_ACCESS_SET_SLIDE_H
#define POLYTILE_ACCESS_SET_SLIDE_H

#include "access/set/layout.h"

/* Copies whose two places overlap: both begin at the same byte, and what they hold differs in where
 * it begins along one dimension. All elements move by the same distance along the memory, as if all
 * were read before any is written; in slices that are no longer than that distance, none of which
 * is copied onto itself. */

typedef struct pti_slide {
    polytile_domain left; /* to be copied */
    int dim;              /* in which elements move */
    int64_t n_at_once;    /* elements along it; 0: none moves */
    bool is_rising;       /* the first elements go first */
} pti_slide;

/** Slices of a box that is copied between two layouts at the same place. False if elements would
 * not all move by the same distance along one dimension. */
bool pti_slide_begin(const pti_layout *from, const pti_layout *to, const polytile_domain *box,
                     pti_slide *slices);

/** The whole box as one slice. */
pti_slide pti_slide_whole(const polytile_domain *box);

/** Take the next slice; false if none is left. */
bool pti_slide_next(pti_slide *slices, polytile_domain *slice);

#endif
