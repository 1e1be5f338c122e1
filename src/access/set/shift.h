#ifndef POLYTILE_ACCESS_SET_SHIFT_H
#define POLYTILE_ACCESS_SET_SHIFT_H

#include "access/set/boxes.h"

/** How far boxes are shifted along each dimension, at both ends alike. */
typedef struct pti_shift {
    int64_t by[POLYTILE_MAX_DIMS];
} pti_shift;

/** Return a box, shifted n_times. */
static inline polytile_domain pti_box_moved(const polytile_domain *box, const pti_shift *shift,
                                            int64_t n_times) {
    polytile_domain moved = *box;
    for (int d = 0; d < box->n_dims; d++) {
        moved.range[d].lo += n_times * shift->by[d];
        moved.range[d].hi += n_times * shift->by[d];
    }
    return moved;
}

/** Shift a set n_times. */
static inline void pti_boxes_move(pti_boxes *set, const pti_shift *shift, int64_t n_times) {
    for (int k = 0; k < set->n_boxes; k++)
        set->box[k] = pti_box_moved(&set->box[k], shift, n_times);
}

/** Return whether the boxes of a set are those of the one before, shifted once, in their order. */
static inline bool pti_boxes_are_moved(const pti_boxes *set, const pti_boxes *before,
                                       const pti_shift *shift) {
    bool are = set->n_boxes == before->n_boxes;
    for (int k = 0; are && k < set->n_boxes; k++) {
        const polytile_domain moved = pti_box_moved(&before->box[k], shift, 1);
        are = pti_box_equals(&moved, &set->box[k]);
    }
    return are;
}

#endif
