#include "access/set/skip_list.h"

#include "base/checked.h"

#include <stdlib.h>

bool pti_skip_list_reserve(pti_skip_list *skips, int64_t n_boxes, int n_lists) {
    skips->capacity = n_boxes / (PTI_SKIP_FACTOR - 1) + (int64_t)n_lists * PTI_SKIP_LEVELS;
    skips->skip = malloc((size_t)(skips->capacity + 1) * sizeof *skips->skip);
    return skips->skip != NULL;
}

void pti_skip_list_free(pti_skip_list *skips) {
    free(skips->skip);
    *skips = (pti_skip_list){0};
}

static int64_t open_skip(pti_skip_list *skips, int n_dims) {
    pti_skip *skip = &skips->skip[skips->n_skips];
    skip->end = -1;
    skip->n_dims = n_dims;
    for (int d = 0; d < n_dims; d++) {
        skip->range[d].lo = INT64_MAX;
        skip->range[d].hi = INT64_MIN;
    }
    return skips->n_skips++;
}

static void extend_skip(pti_skip *skip, const polytile_domain *box) {
    for (int d = 0; d < skip->n_dims; d++) {
        skip->range[d].lo = pti_min(skip->range[d].lo, box->range[d].lo);
        skip->range[d].hi = pti_max(skip->range[d].hi, box->range[d].hi);
    }
}

/** End skips at a box, and begin as long ones from it. Returns how many. */
static int begin_skips(pti_skip_list *skips, pti_skip_builder *list, int64_t number, int n_dims) {
    int64_t every = PTI_SKIP_FACTOR;
    int n_begun = 0;
    for (; n_begun < PTI_SKIP_LEVELS && list->n_boxes % every == 0; every *= PTI_SKIP_FACTOR) {
        if (list->n_boxes > 0)
            skips->skip[list->open[n_begun]].end = number;
        list->open[n_begun++] = open_skip(skips, n_dims);
    }
    return n_begun;
}

int pti_skip_list_add(pti_skip_list *skips, pti_skip_builder *list, int64_t number,
                      const polytile_domain *box) {
    int n_begun = begin_skips(skips, list, number, box->n_dims);
    for (int level = 0; level < PTI_SKIP_LEVELS; level++)
        extend_skip(&skips->skip[list->open[level]], box);
    list->n_boxes++;
    return n_begun;
}

static bool is_skip_apart(const pti_skip *skip, const polytile_domain *box) {
    for (int d = 0; d < skip->n_dims; d++)
        if (skip->range[d].lo > box->range[d].hi || skip->range[d].hi < box->range[d].lo)
            return true;
    return false;
}

int64_t pti_skip_list_over(const pti_skip *skip, int n_skips, const polytile_domain *box,
                           int64_t next) {
    for (int level = 0; level < n_skips && is_skip_apart(&skip[level], box); level++)
        next = skip[level].end;
    return next;
}
