#ifndef POLYTILE_ACCESS_SET_SHIFT_H
#define POLYTILE_ACCESS_SET_SHIFT_H

#include "access/set/boxes.h"

/** How far boxes move on along each dimension, at both ends alike. */
typedef struct pti_shift {
    int64_t by[POLYTILE_MAX_DIMS];
} pti_shift;

/** Return a box after so many shifts. */
static inline polytile_domain pti_box_moved(const polytile_domain *box, const pti_shift *shift,
                                            int64_t n_times) {
    polytile_domain moved = *box;
    for (int d = 0; d < box->n_dims; d++) {
        moved.range[d].lo += n_times * shift->by[d];
        moved.range[d].hi += n_times * shift->by[d];
    }
    return moved;
}

/** Move a set on by so many shifts. */
static inline void pti_boxes_move(pti_boxes *set, const pti_shift *shift, int64_t n_times) {
    for (int k = 0; k < set->n_boxes; k++)
        set->box[k] = pti_box_moved(&set->box[k], shift, n_times);
}

#endif
