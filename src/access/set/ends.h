#ifndef POLYTILE_ACCESS_SET_ENDS_H
#define POLYTILE_ACCESS_SET_ENDS_H

#include "base/checked.h"
#include <polytile/domain.h>
#include <stdbool.h>

/* Bounds of sets of elements in the first dimensions, whatever they do in the others. That two sets
 * are apart shows in them at once; that they meet is then looked at in another way. */

enum { PTI_ENDS_RANK = 3 };

/** Dimensions that an array does not have are 0:0. Of nothing: lo is beyond hi in all. */
typedef struct pti_ends {
    int64_t lo[PTI_ENDS_RANK], hi[PTI_ENDS_RANK];
} pti_ends;

static inline pti_ends pti_ends_of_nothing(void) {
    return (pti_ends){{INT64_MAX, INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN, INT64_MIN}};
}

static inline pti_ends pti_ends_of(const polytile_domain *box) {
    pti_ends ends = {{0}, {0}};
    for (int d = 0; d < PTI_ENDS_RANK && d < box->n_dims; d++) {
        ends.lo[d] = box->range[d].lo;
        ends.hi[d] = box->range[d].hi;
    }
    return ends;
}

static inline bool pti_ends_apart(const pti_ends *a, const pti_ends *b) {
    for (int d = 0; d < PTI_ENDS_RANK; d++)
        if (a->lo[d] > b->hi[d] || b->lo[d] > a->hi[d])
            return true;
    return false;
}

static inline bool pti_ends_contain(const pti_ends *outer, const pti_ends *inner) {
    for (int d = 0; d < PTI_ENDS_RANK; d++)
        if (outer->lo[d] > inner->lo[d] || inner->hi[d] > outer->hi[d])
            return false;
    return true;
}

static inline void pti_ends_extend(pti_ends *ends, const pti_ends *added) {
    for (int d = 0; d < PTI_ENDS_RANK; d++) {
        ends->lo[d] = pti_min(ends->lo[d], added->lo[d]);
        ends->hi[d] = pti_max(ends->hi[d], added->hi[d]);
    }
}

/** Extend ends by others that continue them along one dimension, or lie in them; else false. */
static inline bool pti_ends_absorb(pti_ends *ends, const pti_ends *added) {
    int n_different = 0;
    bool touch = true;
    for (int d = 0; d < PTI_ENDS_RANK; d++) {
        n_different += ends->lo[d] != added->lo[d] || ends->hi[d] != added->hi[d];
        touch &= added->lo[d] <= ends->hi[d] + 1 && ends->lo[d] <= added->hi[d] + 1;
    }
    if (!pti_ends_contain(ends, added) && (n_different > 1 || !touch))
        return false;
    pti_ends_extend(ends, added);
    return true;
}

#endif
