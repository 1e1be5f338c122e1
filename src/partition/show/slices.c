#include "partition/show/slices.h"

#include <stdlib.h>

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

/** The first dimension after another that is split, or is not split. */
static int next_dim(const pti_slices *slices, int n_dims, int after, bool split) {
    for (int d = after + 1; d < n_dims; d++)
        if ((slices->n_cuts[d] > 1) == split)
            return d;
    return -1;
}

/** In three split dimensions, slice the one with the fewest cuts. */
static void choose_three(pti_slices *slices) {
    int slice = 0;
    for (int d = 1; d < 3; d++)
        if (slices->n_cuts[d] < slices->n_cuts[slice])
            slice = d;
    slices->slice_dim = slice;
    slices->row_dim = slice == 0 ? 1 : 0;
    slices->col_dim = slice == 2 ? 1 : 2;
}

/** The first two split dimensions, filled up with others. */
static void choose_two(pti_slices *slices, int n_dims) {
    int first = next_dim(slices, n_dims, -1, true);
    int second = first < 0 ? -1 : next_dim(slices, n_dims, first, true);
    if (first < 0)
        first = next_dim(slices, n_dims, -1, false);
    if (second < 0)
        second = next_dim(slices, n_dims, slices->n_cuts[first] > 1 ? -1 : first, false);
    slices->row_dim = first < second ? first : second;
    slices->col_dim = first < second ? second : first;
}

static void choose_dims(pti_slices *slices, int n_dims) {
    bool all_split = next_dim(slices, n_dims, -1, false) < 0;
    slices->slice_dim = -1;
    slices->row_dim = n_dims == 1 ? -1 : 0;
    slices->col_dim = n_dims == 1 ? 0 : 1;
    if (n_dims == 3 && all_split)
        choose_three(slices);
    else if (n_dims > 2)
        choose_two(slices, n_dims);
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

bool pti_slices_choose(const pti_schedule *schedule, int64_t chosen, pti_slices *slices) {
    const polytile_domain *own = &schedule->superblock[chosen];
    polytile_range *cuts = malloc((size_t)schedule->n_superblocks * sizeof *cuts);
    *slices = (pti_slices){.slice_dim = -1, .n_slices = 1, .n_layers = 1};
    if (cuts == NULL)
        return false;
    for (int d = 0; d < own->n_dims; d++) {
        slices->fixed[d] = own->range[d];
        slices->n_cuts[d] = collect_cuts(schedule, d, cuts);
    }
    choose_dims(slices, own->n_dims);
    if (slices->slice_dim >= 0) {
        int64_t n_cuts = collect_cuts(schedule, slices->slice_dim, cuts);
        choose_layers(slices, cuts, n_cuts, own->range[slices->slice_dim].lo);
    }
    free(cuts);
    return true;
}

static bool meets(polytile_range range, int64_t index) {
    return range.lo <= index && index <= range.hi;
}

bool pti_slices_have(const pti_slices *slices, int slice, const polytile_domain *superblock) {
    for (int d = 0; d < superblock->n_dims; d++) {
        if (d == slices->row_dim || d == slices->col_dim)
            continue;
        int64_t at = d == slices->slice_dim ? slices->at[slice].lo : slices->fixed[d].lo;
        if (!meets(superblock->range[d], at))
            return false;
    }
    return true;
}
