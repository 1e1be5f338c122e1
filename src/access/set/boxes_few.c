#include "access/set/boxes.h"

/*
 * How sets stay few boxes.
 *
 * Merging works a dimension at a time: sorting brings together boxes that agree in all other
 * dimensions, and neighbours are joined if their union is one range.
 */

/* With how many boxes before it a box is tried; residue classes of one range lie side by side. */
enum { MERGE_WINDOW = 8 };

/* Compare two boxes by all dimensions but one. */
static int compare_others(const polytile_domain *a, const polytile_domain *b, int but) {
    int order = 0;
    for (int d = 0; d < a->n_dims && order == 0; d++)
        if (d != but)
            order = pti_range_compare(&a->range[d], &b->range[d]);
    return order;
}

static int compare_boxes(const polytile_domain *a, const polytile_domain *b, int last) {
    int order = compare_others(a, b, last);
    return order != 0 ? order : pti_range_compare(&a->range[last], &b->range[last]);
}

/* Sort boxes by Shell sort: in place, and quick on the nearly sorted sets of the next pass. */
static void sort_boxes(pti_boxes *set, int last) {
    int gap = 1;
    while (gap < set->n_boxes / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int k = gap; k < set->n_boxes; k++) {
            polytile_domain box = set->box[k];
            int hole = k;
            for (; hole >= gap && compare_boxes(&box, &set->box[hole - gap], last) < 0; hole -= gap)
                set->box[hole] = set->box[hole - gap];
            set->box[hole] = box;
        }
}

/* Join b into a if they differ in dimension d only and their union is a box. Two distant elements
 * do not become a range of a new stride. */
static bool join_boxes(polytile_domain *a, const polytile_domain *b, int d) {
    polytile_range mine = a->range[d], other = b->range[d];
    polytile_range both = pti_range_coarse_union(mine, other);
    if (pti_range_count(both) != pti_range_count(mine) + pti_range_count(other))
        return false;
    if (both.step > mine.step && both.step > other.step)
        return false;
    if (compare_others(a, b, d) != 0)
        return false;
    a->range[d] = both;
    return true;
}

static bool join_neighbours(pti_boxes *set, int d) {
    int kept = 0;
    for (int k = 0; k < set->n_boxes; k++) {
        int window = kept - MERGE_WINDOW > 0 ? kept - MERGE_WINDOW : 0;
        int with = kept - 1;
        while (with >= window && !join_boxes(&set->box[with], &set->box[k], d))
            with--;
        if (with < window)
            set->box[kept++] = set->box[k];
    }
    bool joined = kept < set->n_boxes;
    set->n_boxes = kept;
    return joined;
}

void pti_boxes_merge(pti_boxes *set) {
    bool joined = set->n_boxes > 1;
    while (joined) {
        joined = false;
        for (int d = set->box[0].n_dims - 1; d >= 0 && set->n_boxes > 1; d--) {
            sort_boxes(set, d);
            joined = join_neighbours(set, d) || joined;
        }
    }
}

void pti_boxes_widen(pti_boxes *set, int n_boxes) {
    if (set->n_boxes > n_boxes)
        pti_boxes_merge(set);
    if (set->n_boxes <= n_boxes)
        return;
    const polytile_domain around = pti_boxes_bounding(set, set->box[0].n_dims);
    pti_boxes_assign(set, &around);
}

void pti_boxes_narrow(pti_boxes *set, int n_boxes) {
    if (set->n_boxes > n_boxes)
        pti_boxes_merge(set);
    if (set->n_boxes > n_boxes)
        set->n_boxes = n_boxes;
}

void pti_boxes_add_new(pti_boxes *set, const polytile_domain *box) {
    if (!pti_boxes_cover(set, box))
        pti_boxes_add(set, box);
}

void pti_boxes_gather(pti_boxes *set, const polytile_domain *box) {
    enum { FEW = 16 };
    const int n_before = set->n_boxes;
    pti_boxes_add(set, box);
    bool is_power_of_two = (set->n_boxes & (set->n_boxes - 1)) == 0;
    if (set->n_boxes >= FEW && is_power_of_two && set->n_boxes > n_before)
        pti_boxes_merge(set);
}

static bool one_contains(const pti_boxes *set, const polytile_domain *box) {
    for (int k = 0; k < set->n_boxes; k++)
        if (pti_box_contains(&set->box[k], box))
            return true;
    return false;
}

void pti_boxes_include(pti_boxes *set, const polytile_domain *box) {
    enum { FEW = 8 };
    if (one_contains(set, box))
        return;
    if (set->n_boxes > FEW) {
        pti_boxes_gather(set, box);
        return;
    }
    pti_boxes_add(set, box);
    pti_boxes_merge(set);
}

/** Let another box of a set absorb one; return which, or -1. */
static int join_another(pti_boxes *set, int at) {
    for (int k = 0; k < set->n_boxes; k++)
        if (k != at && pti_box_absorb(&set->box[k], &set->box[at]))
            return k;
    return -1;
}

/** Join the last box of a set with another, what that makes with a third one, and so on. */
static void join_on(pti_boxes *set) {
    int at = set->n_boxes - 1, grown;
    while ((grown = join_another(set, at)) >= 0) {
        const int last = --set->n_boxes;
        set->box[at] = set->box[last];
        at = grown == last ? at : grown;
    }
}

/** Join the last boxes of a set, which are new, with the others. */
static void join_last(pti_boxes *set) {
    enum { MOST_NEW = 2 * POLYTILE_MAX_DIMS };
    for (int n = 0, at = set->n_boxes - 1; n < MOST_NEW && at >= 0 && set->n_boxes > 1; n++, at--)
        if (join_another(set, at) >= 0)
            set->box[at] = set->box[--set->n_boxes];
}

void pti_boxes_attach(pti_boxes *set, const polytile_domain *box) {
    if (one_contains(set, box))
        return;
    pti_boxes_gather(set, box);
    join_on(set);
}

void pti_boxes_detach(pti_boxes *set, const polytile_domain *box) {
    if (!pti_boxes_meet(set, box))
        return;
    pti_boxes_subtract(set, box);
    join_last(set);
}
