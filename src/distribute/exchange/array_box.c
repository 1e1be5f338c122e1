#include "distribute/exchange/array_box.h"

#include "access/array/array.h"
#include "base/checked.h"

/** A member's box is larger on either side by one such part of what it owns along a dimension, so
 * that deeper ghost cells find room. */
enum { MARGIN_PART = 32 };

static polytile_range widened_range(polytile_range range, int64_t by, polytile_range whole) {
    return (polytile_range){pti_max(range.lo - by, whole.lo), pti_min(range.hi + by, whole.hi), 1};
}

static polytile_domain with_margin(const polytile_domain *box, const polytile_domain *whole) {
    polytile_domain larger = *box;
    for (int d = 0; d < box->n_dims; d++) {
        int64_t extent = box->range[d].hi - box->range[d].lo + 1;
        larger.range[d] = widened_range(box->range[d], extent / MARGIN_PART + 1, whole->range[d]);
    }
    return larger;
}

/** Rows a multiple of as many bytes apart share few lines of the caches: each element of a column
 * that is packed then drives another one out. */
enum { ALIKE_BYTES = 512 };

/** Widen rows by one element, where the array has one there, if they would begin alike in
 * memory. */
static void shift_rows(polytile_domain *box, const polytile_domain *whole, int64_t element_bytes) {
    polytile_range *row = &box->range[box->n_dims - 1];
    const polytile_range all = whole->range[box->n_dims - 1];
    if ((row->hi - row->lo + 1) * element_bytes % ALIKE_BYTES != 0)
        return;
    if (row->hi < all.hi)
        row->hi++;
    else if (row->lo > all.lo)
        row->lo--;
}

/** Whole in all dimensions but the first: boxes of the program's memory must be contiguous. */
static void complete_rows(polytile_domain *box, const polytile_domain *whole) {
    for (int d = 1; d < box->n_dims; d++)
        box->range[d] = whole->range[d];
}

polytile_domain pti_array_box_choose(const pti_array_box *array_box,
                                     const polytile_domain *needed) {
    const polytile_domain *whole = &array_box->ownership->domain;
    polytile_domain box = *needed;
    polytile_domain owned = pti_ownership_hull(array_box->ownership, array_box->member);
    if (!pti_box_is_empty(&owned))
        box = pti_box_coarse_union(&box, &owned);
    if (array_box->former != NULL)
        box = pti_box_coarse_union(&box, array_box->former);
    box = pti_box_without_steps(&box);
    box = with_margin(&box, whole);
    shift_rows(&box, whole, array_box->element_bytes);
    if (array_box->is_of_program)
        complete_rows(&box, whole);
    return box;
}

static int64_t box_bytes(const pti_array_box *array_box, const polytile_domain *box) {
    return pti_memory_layout_of(box, array_box->element_bytes).size_bytes;
}

int64_t pti_array_box_expect_bytes(const pti_array_box *array_box) {
    polytile_domain owned = pti_ownership_hull(array_box->ownership, array_box->member);
    if (array_box->former != NULL)
        return box_bytes(array_box, array_box->former);
    if (pti_box_is_empty(&owned))
        return 0;
    polytile_domain box = pti_array_box_choose(array_box, &owned);
    return box_bytes(array_box, &box);
}
