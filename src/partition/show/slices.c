#include "partition/show/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_starts(const void *left, const void *right) {
    const polytile_range *a = left, *b = right;
    return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/** The distinct starts of superblocks along a dimension, ascending, with one of the ranges that
 * start there. Returns how many. */
static int64_t collect_cuts(const pti_schedule *schedule, int dim, polytile_range *cuts) {
    int64_t n = schedule->n_superblocks, n_distinct = 0;
    for (int64_t k = 0; k < n; k++)
        cuts[k] = schedule->superblock[k].range[dim];
    qsort(cuts, (size_t)n, sizeof *cuts, compare_starts);
    for (int64_t k = 0; k < n; k++)
        if (n_distinct == 0 || cuts[k].lo != cuts[n_distinct - 1].lo)
            cuts[n_distinct++] = cuts[k];
    return n_distinct;
}

/** Slice the one of three split dimensions that has the fewest cuts. */
static void choose_three(pti_slices *slices) {
    int slice = 0;
    for (int d = 1; d < 3; d++)
        if (slices->n_cuts[d] < slices->n_cuts[slice])
            slice = d;
    slices->slice_dim = slice;
    slices->panel.row_dim = slice == 0 ? 1 : 0;
    slices->panel.col_dim = slice == 2 ? 1 : 2;
}

/** Draw the first two split dimensions, filled up with others; all three of three in slices. */
static void choose_dims(pti_slices *slices, const polytile_domain *space) {
    polytile_domain uncut = *space;
    int n_split = 0;
    for (int d = 0; d < space->n_dims; d++) {
        if (slices->n_cuts[d] == 1)
            continue;
        uncut.range[d] = pti_range_empty();
        n_split++;
    }
    slices->panel = pti_panel_of(space, &uncut);
    slices->slice_dim = -1;
    if (space->n_dims == 3 && n_split == 3)
        choose_three(slices);
}

/** Spread the drawn slices evenly, so that the chosen superblock's own is among them. */
static void choose_layers(pti_slices *slices, const polytile_range *cuts, int64_t n_cuts,
                          int64_t chosen_start) {
    int64_t stride = (n_cuts + PTI_MOST_SLICES - 1) / PTI_MOST_SLICES, own = 0;
    while (own + 1 < n_cuts && cuts[own].lo != chosen_start)
        own++;
    slices->n_layers = n_cuts;
    slices->n_slices = 0;
    for (int64_t k = own % stride; k < n_cuts && slices->n_slices < PTI_MOST_SLICES; k += stride)
        slices->at[slices->n_slices++] = cuts[k];
}

bool pti_slices_choose(const pti_picture *picture, pti_slices *slices) {
    const pti_schedule *schedule = picture->plan->schedule;
    const polytile_domain *own = &schedule->superblock[picture->chosen];
    polytile_range *cuts = malloc((size_t)schedule->n_superblocks * sizeof *cuts);
    *slices = (pti_slices){.n_slices = 1, .n_layers = 1};
    if (cuts == NULL)
        return false;
    for (int d = 0; d < own->n_dims; d++)
        slices->n_cuts[d] = collect_cuts(schedule, d, cuts);
    choose_dims(slices, &picture->plan->instance->threads);
    memcpy(slices->panel.cut, own->range, sizeof own->range);
    if (slices->slice_dim >= 0) {
        int64_t n_cuts = collect_cuts(schedule, slices->slice_dim, cuts);
        choose_layers(slices, cuts, n_cuts, own->range[slices->slice_dim].lo);
    }
    slices->n_cols = (int)ceil(sqrt((double)slices->n_slices));
    slices->n_rows = (slices->n_slices + slices->n_cols - 1) / slices->n_cols;
    free(cuts);
    return true;
}
