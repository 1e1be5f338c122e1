#ifndef POLYTILE_ACCESS_SET_BOUNDING_BOX_H
#define POLYTILE_ACCESS_SET_BOUNDING_BOX_H

#include "base/checked.h"
#include <polytile/domain.h>
#include <stdbool.h>

/* Bounds of sets of elements in the first dimensions. Sets whose bounds are apart are apart;
 * whether others meet is asked in another way. */

enum { PTI_BOUNDING_RANK = 3 };

/** Dimensions that an array lacks are 0:0. Of an empty set lo is beyond hi in all. */
typedef struct pti_bounding_box {
    int64_t lo[PTI_BOUNDING_RANK], hi[PTI_BOUNDING_RANK];
} pti_bounding_box;

static inline pti_bounding_box pti_bounding_of_nothing(void) {
    return (pti_bounding_box){{INT64_MAX, INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN, INT64_MIN}};
}

static inline pti_bounding_box pti_bounding_of(const polytile_domain *box) {
    pti_bounding_box ends = {{0}, {0}};
    for (int d = 0; d < PTI_BOUNDING_RANK && d < box->n_dims; d++) {
        ends.lo[d] = box->range[d].lo;
        ends.hi[d] = box->range[d].hi;
    }
    return ends;
}

static inline bool pti_bounding_apart(const pti_bounding_box *a, const pti_bounding_box *b) {
    for (int d = 0; d < PTI_BOUNDING_RANK; d++)
        if (a->lo[d] > b->hi[d] || b->lo[d] > a->hi[d])
            return true;
    return false;
}

static inline bool pti_bounding_contain(const pti_bounding_box *outer,
                                        const pti_bounding_box *inner) {
    for (int d = 0; d < PTI_BOUNDING_RANK; d++)
        if (outer->lo[d] > inner->lo[d] || inner->hi[d] > outer->hi[d])
            return false;
    return true;
}

static inline void pti_bounding_extend(pti_bounding_box *ends, const pti_bounding_box *added) {
    for (int d = 0; d < PTI_BOUNDING_RANK; d++) {
        ends->lo[d] = pti_min(ends->lo[d], added->lo[d]);
        ends->hi[d] = pti_max(ends->hi[d], added->hi[d]);
    }
}

/** Extend ends by others that continue them along one dimension, or lie in them; else return
 * false. */
static inline bool pti_bounding_absorb(pti_bounding_box *ends, const pti_bounding_box *added) {
    int n_different = 0;
    bool touch = true;
    for (int d = 0; d < PTI_BOUNDING_RANK; d++) {
        n_different += ends->lo[d] != added->lo[d] || ends->hi[d] != added->hi[d];
        touch &= added->lo[d] <= ends->hi[d] + 1 && ends->lo[d] <= added->hi[d] + 1;
    }
    if (!pti_bounding_contain(ends, added) && (n_different > 1 || !touch))
        return false;
    pti_bounding_extend(ends, added);
    return true;
}

#endif
