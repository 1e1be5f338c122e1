#ifndef POLYTILE_ACCESS_SET_BOX_H
#define POLYTILE_ACCESS_SET_BOX_H

#include "access/set/range.h"

/* A box is a polytile_domain as a part of an index space, a product of strided ranges. Two boxes in
 * one call have the same number of dimensions. */

polytile_domain pti_box_empty(int n_dims);

static inline bool pti_box_is_empty(const polytile_domain *box) {
    for (int d = 0; d < box->n_dims; d++)
        if (pti_range_is_empty(box->range[d]))
            return true;
    return false;
}

/** Return whether two boxes have the same elements. */
bool pti_box_equals(const polytile_domain *a, const polytile_domain *b);

/** Compare boxes as they are written, of any number of dimensions: <0, 0 or >0. Boxes of the same
 * elements may differ. */
int pti_box_compare(const polytile_domain *a, const polytile_domain *b);

static inline bool pti_box_contains(const polytile_domain *outer, const polytile_domain *inner) {
    for (int d = 0; d < outer->n_dims; d++) {
        const polytile_range *range = &outer->range[d], *part = &inner->range[d];
        bool is_between = range->lo <= part->lo && part->hi <= range->hi;
        if (!is_between || (range->step != 1 && !pti_range_contains(*range, *part)))
            return pti_box_is_empty(inner);
    }
    return true;
}

/** Return false for most boxes without a common element, quickly, by the ends of their ranges. */
static inline bool pti_box_may_meet(const polytile_domain *a, const polytile_domain *b) {
    for (int d = 0; d < a->n_dims; d++)
        if (a->range[d].lo > b->range[d].hi || b->range[d].lo > a->range[d].hi)
            return false;
    return true;
}

/** Return whether two boxes have a common element. */
static inline bool pti_box_meets(const polytile_domain *a, const polytile_domain *b) {
    if (!pti_box_may_meet(a, b))
        return false;
    for (int d = 0; d < a->n_dims; d++)
        if (!pti_range_meets(a->range[d], b->range[d]))
            return false;
    return true;
}

/** Intersect two boxes; false if they have no common element, and *common is then empty. */
bool pti_box_intersect(const polytile_domain *a, const polytile_domain *b, polytile_domain *common);

/** Return whether a non-empty box has a step above 1 with several elements. */
static inline bool pti_box_has_gaps(const polytile_domain *box) {
    for (int d = 0; d < box->n_dims; d++)
        if (pti_range_has_gaps(box->range[d]))
            return true;
    return false;
}

/** Return the number of elements, 0 if empty; INT64_MAX if it exceeds 64 bits. */
int64_t pti_box_count(const polytile_domain *box);

/** Return the smallest strided box around two; any may be empty. */
polytile_domain pti_box_coarse_union(const polytile_domain *a, const polytile_domain *b);

/** Return the smallest box of steps 1 around two, as launches have them; any may be empty. */
polytile_domain pti_box_bounding(const polytile_domain *a, const polytile_domain *b);

/** Return a box and all that lies between its elements. */
polytile_domain pti_box_without_steps(const polytile_domain *box);

/** Extend a box to its union with another if that is a box without gaps, or one holds the other;
 * else return false, and change nothing. */
bool pti_box_absorb(polytile_domain *box, const polytile_domain *added);

/** Begin with the first point of a box, which is not empty; or go on to the next one in C order,
 * false after the last, when the first one is next again. */
void pti_box_first_point(const polytile_domain *box, int64_t *point);
bool pti_box_next_point(const polytile_domain *box, int64_t *point);

/** Find the point of a box that has a number in C order, 0 <= number < the box's count. */
void pti_box_find_point(const polytile_domain *box, int64_t number, int64_t *point);

#endif
