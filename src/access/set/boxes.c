#include "access/set/boxes.h"

#include "base/list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void pti_boxes_free(pti_boxes *set) {
    free(set->box);
    *set = (pti_boxes){0};
}

void pti_boxes_free_list(pti_boxes *sets, int n_sets) {
    for (int k = 0; sets != NULL && k < n_sets; k++)
        pti_boxes_free(&sets[k]);
    free(sets);
}

void pti_boxes_clear(pti_boxes *set) {
    set->n_boxes = 0;
}

static bool grow_boxes(pti_boxes *set, int n_boxes) {
    if (n_boxes <= set->capacity)
        return true;
    int capacity = n_boxes > INT_MAX / 4 ? INT_MAX / 2 : 2 * n_boxes + 6;
    if (n_boxes > INT_MAX / 2 || !PTI_RESIZE(set->box, capacity)) {
        set->failed = true;
        return false;
    }
    set->capacity = capacity;
    return true;
}

void pti_boxes_append(pti_boxes *set, const polytile_domain *box) {
    polytile_domain copy = *box;
    if (pti_box_is_empty(&copy) || !grow_boxes(set, set->n_boxes + 1))
        return;
    set->box[set->n_boxes++] = copy;
}

void pti_boxes_assign(pti_boxes *set, const polytile_domain *box) {
    pti_boxes_clear(set);
    pti_boxes_append(set, box);
}

/* Append rest with its dimension d replaced by a range. */
static void append_piece(pti_boxes *set, const polytile_domain *rest, int d, polytile_range piece) {
    polytile_domain box = *rest;
    box.range[d] = piece;
    pti_boxes_append(set, &box);
}

/** Append what lies between the elements of common, a part of rest's dimension d on a coarser
 * lattice: one box a residue class, or one a gap, whichever are fewer. */
static void append_between(pti_boxes *set, const polytile_domain *rest, int d,
                           polytile_range common) {
    int64_t step = rest->range[d].step;
    int64_t n_classes = common.step / step;
    int64_t n_gaps = pti_range_count(common) - 1;
    for (int64_t k = 1; n_classes <= n_gaps + 1 && k < n_classes && !set->failed; k++)
        append_piece(set, rest, d, pti_range(common.lo + k * step, common.hi, common.step));
    for (int64_t k = 0; n_classes > n_gaps + 1 && k < n_gaps && !set->failed; k++) {
        int64_t before = common.lo + k * common.step;
        append_piece(set, rest, d, pti_range(before + step, before + common.step - step, step));
    }
}

/* Append box without common, a non-empty box inside it. */
static void append_difference(pti_boxes *set, const polytile_domain *box,
                              const polytile_domain *common) {
    polytile_domain rest = *box;
    for (int d = 0; d < box->n_dims; d++) {
        polytile_range whole = rest.range[d], part = common->range[d];
        append_piece(set, &rest, d, pti_range(whole.lo, part.lo - whole.step, whole.step));
        if (part.lo < part.hi)
            append_between(set, &rest, d, part);
        append_piece(set, &rest, d, pti_range(part.hi + whole.step, whole.hi, whole.step));
        rest.range[d] = part;
    }
}

/* Keep a box of the set; it moves only if its place changes, since boxes are large. */
static void keep_box(pti_boxes *set, int k, int *kept) {
    if (*kept != k)
        set->box[*kept] = set->box[k];
    ++*kept;
}

/* Subtract box from the set's boxes from position first on; differences go to the end, order
 * stays. */
static void subtract_from(pti_boxes *set, int first, const polytile_domain *box) {
    polytile_domain removed = *box, common;
    int n_before = set->n_boxes, kept = first;
    for (int k = first; k < n_before; k++) {
        polytile_domain whole;
        if (pti_box_contains(&removed, &set->box[k]))
            continue;
        if (!pti_box_may_meet(&set->box[k], &removed) ||
            !pti_box_intersect(&set->box[k], &removed, &common)) {
            keep_box(set, k, &kept);
            continue;
        }
        whole = set->box[k];
        append_difference(set, &whole, &common);
    }
    if (kept == n_before)
        return;
    memmove(set->box + kept, set->box + n_before,
            (size_t)(set->n_boxes - n_before) * sizeof *set->box);
    set->n_boxes -= n_before - kept;
}

static void drop_contained(pti_boxes *set, const polytile_domain *box) {
    int kept = 0;
    for (int k = 0; k < set->n_boxes; k++)
        if (!pti_box_contains(box, &set->box[k]))
            keep_box(set, k, &kept);
    set->n_boxes = kept;
}

void pti_boxes_add(pti_boxes *set, const polytile_domain *box) {
    polytile_domain added = *box;
    if (pti_box_is_empty(&added))
        return;
    drop_contained(set, &added);
    int n_before = set->n_boxes;
    pti_boxes_append(set, &added);
    for (int k = 0; k < n_before && set->n_boxes > n_before; k++)
        if (pti_box_may_meet(&set->box[k], &added))
            subtract_from(set, n_before, &set->box[k]);
}

void pti_boxes_unite(pti_boxes *set, const pti_boxes *other, pti_boxes_adder *add) {
    set->failed = set->failed || other->failed;
    for (int k = 0; k < other->n_boxes; k++)
        add(set, &other->box[k]);
}

void pti_boxes_subtract(pti_boxes *set, const polytile_domain *box) {
    if (!pti_box_is_empty(box))
        subtract_from(set, 0, box);
}

void pti_boxes_subtract_all(pti_boxes *set, const pti_boxes *other) {
    if (set == other) {
        pti_boxes_clear(set);
        return;
    }
    set->failed = set->failed || other->failed;
    for (int k = 0; k < other->n_boxes && set->n_boxes > 0; k++)
        subtract_from(set, 0, &other->box[k]);
}

void pti_boxes_clip(pti_boxes *set, const polytile_domain *box) {
    polytile_domain clip = *box, common;
    int kept = 0;
    for (int k = 0; k < set->n_boxes; k++)
        if (pti_box_intersect(&set->box[k], &clip, &common))
            set->box[kept++] = common;
    set->n_boxes = kept;
}

void pti_boxes_clip_all(pti_boxes *set, const pti_boxes *other) {
    pti_boxes outside = {0};
    pti_boxes_copy(&outside, set);
    pti_boxes_subtract_all(&outside, other);
    pti_boxes_subtract_all(set, &outside);
    pti_boxes_free(&outside);
}

void pti_boxes_intersect(pti_boxes *common, const pti_boxes *a, const pti_boxes *b) {
    polytile_domain both;
    pti_boxes_clear(common);
    common->failed = common->failed || a->failed || b->failed;
    for (int k = 0; k < a->n_boxes; k++)
        for (int m = 0; m < b->n_boxes; m++)
            if (pti_box_intersect(&a->box[k], &b->box[m], &both))
                pti_boxes_append(common, &both);
}

void pti_boxes_copy(pti_boxes *set, const pti_boxes *other) {
    if (set == other)
        return;
    set->failed = set->failed || other->failed;
    pti_boxes_clear(set);
    if (other->n_boxes == 0 || !grow_boxes(set, other->n_boxes))
        return;
    memcpy(set->box, other->box, (size_t)other->n_boxes * sizeof *set->box);
    set->n_boxes = other->n_boxes;
}
