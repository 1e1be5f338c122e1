#ifndef POLYTILE_ACCESS_FOOTPRINT_AFFINE_H
#define POLYTILE_ACCESS_FOOTPRINT_AFFINE_H

#include "access/footprint/instance.h"

/* Affine expressions over boxes of threads. Instances bound their terms, so nothing overflows. */

/** Return the smallest value over a non-empty box of threads. */
static inline int64_t pti_affine_min(const pti_affine *affine, const polytile_domain *threads) {
    int64_t value = affine->constant;
    for (int k = 0; k < threads->n_dims; k++)
        value +=
            affine->index[k] * (affine->index[k] < 0 ? threads->range[k].hi : threads->range[k].lo);
    return value;
}

/** Return the largest value over a non-empty box of threads. */
static inline int64_t pti_affine_max(const pti_affine *affine, const polytile_domain *threads) {
    int64_t value = affine->constant;
    for (int k = 0; k < threads->n_dims; k++)
        value +=
            affine->index[k] * (affine->index[k] < 0 ? threads->range[k].lo : threads->range[k].hi);
    return value;
}

static inline pti_affine pti_affine_difference(const pti_affine *a, const pti_affine *b) {
    pti_affine difference = {.constant = a->constant - b->constant};
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        difference.index[k] = a->index[k] - b->index[k];
    return difference;
}

/** Return whether two expressions differ by a constant only. */
static inline bool pti_affine_is_parallel(const pti_affine *a, const pti_affine *b) {
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        if (a->index[k] != b->index[k])
            return false;
    return true;
}

static inline bool pti_affine_equals(const pti_affine *a, const pti_affine *b) {
    return a->constant == b->constant && pti_affine_is_parallel(a, b);
}

/** Return whether a subscript is one element of each thread. */
static inline bool pti_subscript_is_single(const pti_subscript *subscript) {
    return pti_affine_equals(&subscript->lo, &subscript->hi);
}

/** Return whether a subscript depends on an index. */
static inline bool pti_subscript_names(const pti_subscript *subscript, int index) {
    return subscript->lo.index[index] != 0 || subscript->hi.index[index] != 0;
}

/** Return hi - lo of a subscript: negative if it is empty. */
static inline pti_affine pti_subscript_width(const pti_subscript *subscript) {
    return pti_affine_difference(&subscript->hi, &subscript->lo);
}

/** Narrow a non-empty box of threads to one around those for which an expression is not negative.
 * If there are none, returns false and leaves the box unfinished. */
bool pti_affine_narrow(const pti_affine *affine, polytile_domain *threads);

/** Narrow a non-empty box of threads to one around those whose section is not empty, before the
 * array clips it. If there are none, returns false and leaves the box unfinished. */
bool pti_section_narrow(const pti_section *section, polytile_domain *threads);

#endif
