#ifndef POLYTILE_ACCESS_SET_BOXES_H
#define POLYTILE_ACCESS_SET_BOXES_H

#include "access/set/box.h"

/* access/set: sets of indices and their algebra: ranges, boxes, sets of boxes, and layouts, which say
 * where the elements of a box lie in memory. It knows nothing of kernels, arrays or isl. */

/* The algebra of sets of elements. A set is a list of boxes, which all operations keep pairwise
 * disjoint and non-empty; pti_boxes_append() believes its caller that they are disjoint.
 *
 * Memory: none of these operations returns an error. Where memory runs out for one, the set that it
 * changes is marked as failed; a set that is made from a failed one fails with it; and the mark
 * stays, whatever the set becomes, until it is freed or its owner takes the mark off. What a failed
 * set holds says nothing. So a caller goes through all of its operations first, and then looks at
 * the results' `failed`, once. */

/** Zero-initialise. */
typedef struct pti_boxes {
    polytile_domain *box; /* owned */
    int n_boxes;
    int capacity;
    bool failed;
} pti_boxes;

void pti_boxes_free(pti_boxes *set);
/** Free so many sets and the list of them, which may be NULL. */
void pti_boxes_free_list(pti_boxes *sets, int n_sets);

/* What a set becomes. */

/** Nothing, keeping its memory. */
void pti_boxes_clear(pti_boxes *set);
/** The elements of a box. */
void pti_boxes_assign(pti_boxes *set, const polytile_domain *box);
/** The same boxes as another set's. */
void pti_boxes_copy(pti_boxes *set, const pti_boxes *other);
/** Set without the elements of a box. */
void pti_boxes_subtract(pti_boxes *set, const polytile_domain *box);
/** Set without the elements of another. */
void pti_boxes_subtract_all(pti_boxes *set, const pti_boxes *other);
/** The elements of set that are in a box. */
void pti_boxes_clip(pti_boxes *set, const polytile_domain *box);
/** The elements of two other sets that are in both. */
void pti_boxes_intersect(pti_boxes *common, const pti_boxes *a, const pti_boxes *b);

/* Adding boxes. All of these leave the same elements, in other boxes: adding is quickest where the
 * boxes are not joined, and a set that grows by many is quickest to ask where they are. */

typedef void pti_boxes_adder(pti_boxes *set, const polytile_domain *box);

/** Add a box known to be disjoint from the set. */
void pti_boxes_append(pti_boxes *set, const polytile_domain *box);
/** Add a box: in place of the boxes that it contains, and without what lies in others. */
void pti_boxes_add(pti_boxes *set, const polytile_domain *box);
/** The same, joining boxes each time a long list has doubled. */
void pti_boxes_gather(pti_boxes *set, const polytile_domain *box);
/** The same, joining boxes each time while they are few; nothing where one contains the box. */
void pti_boxes_include(pti_boxes *set, const polytile_domain *box);
/** The same, joining what is new with its neighbours, so that what comes piece by piece stays few
 * boxes. */
void pti_boxes_attach(pti_boxes *set, const polytile_domain *box);
/** Take out a box; what is left joins its neighbours likewise. */
void pti_boxes_detach(pti_boxes *set, const polytile_domain *box);
/** Add all boxes of another set, in one of these ways. */
void pti_boxes_unite(pti_boxes *set, const pti_boxes *other, pti_boxes_adder *add);
/** Join boxes that differ in one dimension only and are adjacent there; the elements stay. */
void pti_boxes_merge(pti_boxes *set);

/* Questions. */

/** Whether every element of a box is in set; no, where memory runs out. */
bool pti_boxes_cover(const pti_boxes *set, const polytile_domain *box);
/** The first box of another set that set does not cover; NULL: there is none. */
const polytile_domain *pti_boxes_find_uncovered(const pti_boxes *set, const pti_boxes *other);
/** The first box of another set that has an element of set; NULL: there is none. */
const polytile_domain *pti_boxes_find_meeting(const pti_boxes *set, const pti_boxes *other);
/** Whether two sets have the same boxes in the same order, which operations follow. */
bool pti_boxes_are_alike(const pti_boxes *a, const pti_boxes *b);
/** The number of elements, INT64_MAX if it exceeds 64 bits. */
int64_t pti_boxes_count(const pti_boxes *set);
/** The number of elements that are in a box. */
int64_t pti_boxes_count_in(const pti_boxes *set, const polytile_domain *box);
/** The smallest box around a set that is not empty, with the steps that its boxes leave it. */
polytile_domain pti_boxes_hull(const pti_boxes *set);
/** The smallest box of steps 1 around a set, which may be empty. */
polytile_domain pti_boxes_enclose(const pti_boxes *set, int n_dims);

/** Whether set and box have a common element. */
static inline bool pti_boxes_meet(const pti_boxes *set, const polytile_domain *box) {
    polytile_domain common;
    for (int k = 0; k < set->n_boxes; k++)
        if (pti_box_may_meet(&set->box[k], box) && pti_box_intersect(&set->box[k], box, &common))
            return true;
    return false;
}

#endif
