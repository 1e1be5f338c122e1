#include "access/set/boxes.h"

#include "base/checked.h"

#include <stddef.h>

/* Cut an end that lies in another box off a box without gaps, if the rest is a box. */
static void trim_box(polytile_domain *box, const polytile_domain *by) {
    int cut = -1;
    for (int d = 0; d < box->n_dims; d++) {
        const polytile_range *range = &box->range[d], *other = &by->range[d];
        if (range->step != 1 || other->step != 1)
            return;
        if (other->lo <= range->lo && range->hi <= other->hi)
            continue;
        if (cut >= 0 || other->hi < range->lo || range->hi < other->lo ||
            (range->lo < other->lo && other->hi < range->hi))
            return;
        cut = d;
    }
    if (cut >= 0 && by->range[cut].lo <= box->range[cut].lo)
        box->range[cut].lo = by->range[cut].hi + 1;
    else if (cut >= 0)
        box->range[cut].hi = by->range[cut].lo - 1;
}

bool pti_boxes_cover(const pti_boxes *set, const polytile_domain *box) {
    for (int k = 0; k < set->n_boxes; k++)
        if (pti_box_contains(&set->box[k], box))
            return true;
    if (set->n_boxes < 2)
        return pti_box_is_empty(box);
    polytile_domain rest = *box;
    for (int k = 0; k < set->n_boxes; k++) {
        if (pti_box_contains(&set->box[k], &rest))
            return true;
        trim_box(&rest, &set->box[k]);
    }
    pti_boxes missing = {0};
    pti_boxes_append(&missing, &rest);
    pti_boxes_subtract_all(&missing, set);
    bool covers = missing.n_boxes == 0 && !missing.failed;
    pti_boxes_free(&missing);
    return covers;
}

const polytile_domain *pti_boxes_find_uncovered(const pti_boxes *set, const pti_boxes *other) {
    for (int k = 0; k < other->n_boxes; k++)
        if (!pti_boxes_cover(set, &other->box[k]))
            return &other->box[k];
    return NULL;
}

bool pti_boxes_are_equal(const pti_boxes *a, const pti_boxes *b) {
    return pti_boxes_find_uncovered(a, b) == NULL && pti_boxes_find_uncovered(b, a) == NULL;
}

const polytile_domain *pti_boxes_find_meeting(const pti_boxes *set, const pti_boxes *other) {
    for (int k = 0; k < other->n_boxes; k++)
        if (pti_boxes_meet(set, &other->box[k]))
            return &other->box[k];
    return NULL;
}

bool pti_boxes_are_alike(const pti_boxes *a, const pti_boxes *b) {
    bool alike = a->n_boxes == b->n_boxes;
    for (int k = 0; alike && k < a->n_boxes; k++)
        alike = pti_box_equals(&a->box[k], &b->box[k]);
    return alike;
}

int64_t pti_boxes_count(const pti_boxes *set) {
    int64_t count = 0;
    for (int k = 0; k < set->n_boxes; k++)
        if (pti_add_overflows(count, pti_box_count(&set->box[k]), &count))
            return INT64_MAX;
    return count;
}

int64_t pti_boxes_count_in(const pti_boxes *set, const polytile_domain *box) {
    int64_t count = 0;
    polytile_domain common;
    for (int k = 0; k < set->n_boxes; k++)
        if (pti_box_intersect(&set->box[k], box, &common) &&
            pti_add_overflows(count, pti_box_count(&common), &count))
            return INT64_MAX;
    return count;
}

polytile_domain pti_boxes_hull(const pti_boxes *set) {
    polytile_domain hull = set->box[0];
    for (int k = 1; k < set->n_boxes; k++)
        hull = pti_box_coarse_union(&hull, &set->box[k]);
    return hull;
}

polytile_domain pti_boxes_bounding(const pti_boxes *set, int n_dims) {
    polytile_domain hull = pti_box_empty(n_dims);
    for (int k = 0; k < set->n_boxes; k++)
        hull = pti_box_bounding(&hull, &set->box[k]);
    return hull;
}
