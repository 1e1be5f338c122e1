#ifndef POLYTILE_ACCESS_SET_BOXES_H
#define POLYTILE_ACCESS_SET_BOXES_H

#include "access/set/range.h"

/* access/set: sets of indices and their algebra: ranges, boxes, sets of boxes, and layouts,
 * which say where the elements of a box lie in memory. It knows nothing of kernels, arrays or
 * isl. */

/* A box is a polytile_domain used as a piece of an index space: a product of strided ranges. Two
 * boxes in one call have the same number of dimensions. */

static inline bool pti_box_is_empty(const polytile_domain *box) {
    for (int d = 0; d < box->n_dims; d++)
        if (pti_range_is_empty(box->range[d]))
            return true;
    return false;
}

bool pti_box_equals(const polytile_domain *a, const polytile_domain *b);

static inline bool pti_box_contains(const polytile_domain *outer, const polytile_domain *inner) {
    for (int d = 0; d < outer->n_dims; d++) {
        const polytile_range *range = &outer->range[d], *part = &inner->range[d];
        bool is_between = range->lo <= part->lo && part->hi <= range->hi;
        if (!is_between || (range->step != 1 && !pti_range_contains(*range, *part)))
            return pti_box_is_empty(inner);
    }
    return true;
}

/** False for most boxes that have no common element, at a glance: most pairs miss each other in
 * some dimension's ends. */
static inline bool pti_box_may_meet(const polytile_domain *a, const polytile_domain *b) {
    for (int d = 0; d < a->n_dims; d++)
        if (a->range[d].lo > b->range[d].hi || b->range[d].lo > a->range[d].hi)
            return false;
    return true;
}

/** False when the boxes have no common element; *common is then empty. */
bool pti_box_intersect(const polytile_domain *a, const polytile_domain *b, polytile_domain *common);
polytile_domain pti_box_coarse_union(const polytile_domain *a, const polytile_domain *b);
/** The number of elements, 0 if empty; INT64_MAX if it exceeds 64 bits. */
int64_t pti_box_count(const polytile_domain *box);
polytile_domain pti_box_empty(int n_dims);

/** A set of elements as pairwise disjoint, non-empty boxes. Zero-initialise; a failed allocation is
 * remembered. */
typedef struct pti_boxes {
    polytile_domain *box;
    int n_boxes;
    int capacity;
    bool failed;
} pti_boxes;

void pti_boxes_free(pti_boxes *set);
/** Empty the set, keeping its memory. */
void pti_boxes_clear(pti_boxes *set);
/** set := set united with box. */
void pti_boxes_add(pti_boxes *set, const polytile_domain *box);
/** set := set united with a box known to be disjoint from it. */
void pti_boxes_append(pti_boxes *set, const polytile_domain *box);
/** set := set without the elements of box. */
void pti_boxes_subtract(pti_boxes *set, const polytile_domain *box);
/** set := set without the elements of other. */
void pti_boxes_subtract_all(pti_boxes *set, const pti_boxes *other);
/** set := the elements of set that are in box. */
void pti_boxes_clip(pti_boxes *set, const polytile_domain *box);
void pti_boxes_copy(pti_boxes *set, const pti_boxes *other);
/** Whether every element of box is in set. */
bool pti_boxes_cover(const pti_boxes *set, const polytile_domain *box);
/** The number of elements, INT64_MAX if it exceeds 64 bits. */
int64_t pti_boxes_count(const pti_boxes *set);
/** Whether set and box have a common element. */
static inline bool pti_boxes_meet(const pti_boxes *set, const polytile_domain *box) {
    polytile_domain common;
    for (int k = 0; k < set->n_boxes; k++)
        if (pti_box_may_meet(&set->box[k], box) && pti_box_intersect(&set->box[k], box, &common))
            return true;
    return false;
}

/** set := set united with box, joining boxes each time a long list has doubled. */
void pti_boxes_gather(pti_boxes *set, const polytile_domain *box);
/** Join boxes that differ in one dimension only and are adjacent there; the set stays the same. */
void pti_boxes_merge(pti_boxes *set);

#endif
