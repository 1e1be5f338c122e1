#ifndef POLYTILE_ACCESS_SET_BOXES_H
#define POLYTILE_ACCESS_SET_BOXES_H

#include "access/set/box.h"

/* access/set: sets of indices and their algebra: ranges, boxes, sets of boxes, and layouts of boxes
 * in memory. It knows nothing of kernels, arrays or isl. */

/*
 * The algebra of sets of elements. A set is a list of disjoint, non-empty boxes, as all operations
 * keep it; pti_boxes_append() relies on its caller for that.
 *
 * Memory: no operation returns an error. When memory runs out, the set that it changes is marked as
 * failed, and so is each set made from a failed one. The mark stays until the set is freed or its
 * owner clears it. The contents of a failed set mean nothing. So a caller does all its operations
 * first, and then looks once at the results' `failed`.
 */

/** Zero-initialise. */
typedef struct pti_boxes {
    polytile_domain *box; /* owned */
    int n_boxes;
    int capacity;
    bool failed;
} pti_boxes;

void pti_boxes_free(pti_boxes *set);
/** Free sets and the list of them, which may be NULL. */
void pti_boxes_free_list(pti_boxes *sets, int n_sets);

/* Changing a set. */

/** Empty a set, but keep its memory. */
void pti_boxes_clear(pti_boxes *set);
/** Set a set to a box. */
void pti_boxes_assign(pti_boxes *set, const polytile_domain *box);
/** Copy another set's boxes. */
void pti_boxes_copy(pti_boxes *set, const pti_boxes *other);
/** Subtract a box. */
void pti_boxes_subtract(pti_boxes *set, const polytile_domain *box);
/** Subtract another set. */
void pti_boxes_subtract_all(pti_boxes *set, const pti_boxes *other);
/** Keep only the elements in a box. */
void pti_boxes_clip(pti_boxes *set, const polytile_domain *box);
/** Keep only the elements of another set. */
void pti_boxes_clip_all(pti_boxes *set, const pti_boxes *other);
/** Set common to the intersection of two other sets. */
void pti_boxes_intersect(pti_boxes *common, const pti_boxes *a, const pti_boxes *b);

/* Adding boxes. All of these give the same elements in different boxes. Without joins adding is
 * quickest; with joins questions to a large set are. */

typedef void pti_boxes_adder(pti_boxes *set, const polytile_domain *box);

/** Add a box known to be disjoint from the set. */
void pti_boxes_append(pti_boxes *set, const polytile_domain *box);
/** Add a box: it replaces the boxes that it contains, and loses what lies in others. */
void pti_boxes_add(pti_boxes *set, const polytile_domain *box);
/** Add a box, unless the set covers it: then its boxes stay as they are. */
void pti_boxes_add_new(pti_boxes *set, const polytile_domain *box);
/** Add a box, and join boxes each time a long list has doubled. */
void pti_boxes_gather(pti_boxes *set, const polytile_domain *box);
/** Add a box, and join boxes while they are few; does nothing if one contains the box. */
void pti_boxes_include(pti_boxes *set, const polytile_domain *box);
/** Add a box, and join it with its neighbours, so that adjacent boxes stay few. */
void pti_boxes_attach(pti_boxes *set, const polytile_domain *box);
/** Subtract a box, and join what is left with its neighbours. */
void pti_boxes_detach(pti_boxes *set, const polytile_domain *box);
/** Add all boxes of another set, in one of these ways. */
void pti_boxes_unite(pti_boxes *set, const pti_boxes *other, pti_boxes_adder *add);
/** Join boxes that differ in one dimension only and are adjacent there. */
void pti_boxes_merge(pti_boxes *set);
/** Make a set one of at most n_boxes boxes. It may have more elements then, inside its bounding
 * box. */
void pti_boxes_widen(pti_boxes *set, int n_boxes);
/** Make a set one of at most n_boxes boxes. It may have fewer elements then. */
void pti_boxes_narrow(pti_boxes *set, int n_boxes);

/* Questions. */

/** Return whether a set holds every element of a box; false when memory runs out. */
bool pti_boxes_cover(const pti_boxes *set, const polytile_domain *box);
/** Return the first box of another set that set does not cover; NULL: none. */
const polytile_domain *pti_boxes_find_uncovered(const pti_boxes *set, const pti_boxes *other);
/** Return the first box of another set that has an element of set; NULL: none. */
const polytile_domain *pti_boxes_find_meeting(const pti_boxes *set, const pti_boxes *other);
/** Return whether two sets have the same boxes in the same order. */
bool pti_boxes_are_alike(const pti_boxes *a, const pti_boxes *b);
/** Return whether two sets have the same elements; false when memory runs out. */
bool pti_boxes_are_equal(const pti_boxes *a, const pti_boxes *b);
/** Return the number of elements, INT64_MAX if it exceeds 64 bits. */
int64_t pti_boxes_count(const pti_boxes *set);
/** Return the number of elements that are in a box. */
int64_t pti_boxes_count_in(const pti_boxes *set, const polytile_domain *box);
/** Return the smallest strided box around a non-empty set. */
polytile_domain pti_boxes_hull(const pti_boxes *set);
/** Return the smallest box of steps 1 around a set, which may be empty. */
polytile_domain pti_boxes_bounding(const pti_boxes *set, int n_dims);

/** Return whether set and box have a common element. */
static inline bool pti_boxes_meet(const pti_boxes *set, const polytile_domain *box) {
    for (int k = 0; k < set->n_boxes; k++)
        if (pti_box_meets(&set->box[k], box))
            return true;
    return false;
}

#endif
