#include "partition/memory/skip_list.h"

#include "base/checked.h"

#include <stdlib.h>

bool pti_skip_list_reserve(pti_skip_list *leaps, int64_t n_boxes, int n_lists) {
    leaps->capacity = n_boxes / (PTI_LEAP_FACTOR - 1) + (int64_t)n_lists * PTI_LEAP_LEVELS;
    leaps->leap = malloc((size_t)(leaps->capacity + 1) * sizeof *leaps->leap);
    return leaps->leap != NULL;
}

void pti_skip_list_free(pti_skip_list *leaps) {
    free(leaps->leap);
    *leaps = (pti_skip_list){0};
}

static int64_t open_leap(pti_skip_list *leaps, int n_dims) {
    pti_leap *leap = &leaps->leap[leaps->n_leaps];
    leap->end = -1;
    leap->n_dims = n_dims;
    for (int d = 0; d < n_dims; d++) {
        leap->range[d].lo = INT64_MAX;
        leap->range[d].hi = INT64_MIN;
    }
    return leaps->n_leaps++;
}

static void include(pti_leap *leap, const polytile_domain *box) {
    for (int d = 0; d < leap->n_dims; d++) {
        leap->range[d].lo = pti_min(leap->range[d].lo, box->range[d].lo);
        leap->range[d].hi = pti_max(leap->range[d].hi, box->range[d].hi);
    }
}

/** End leaps at a box that others of as many boxes begin from; returns how many. */
static int begin_leaps(pti_skip_list *leaps, pti_leap_list *list, int64_t number, int n_dims) {
    int64_t every = PTI_LEAP_FACTOR;
    int n_begun = 0;
    for (; n_begun < PTI_LEAP_LEVELS && list->n_boxes % every == 0; every *= PTI_LEAP_FACTOR) {
        if (list->n_boxes > 0)
            leaps->leap[list->open[n_begun]].end = number;
        list->open[n_begun++] = open_leap(leaps, n_dims);
    }
    return n_begun;
}

int pti_skip_list_add(pti_skip_list *leaps, pti_leap_list *list, int64_t number,
                      const polytile_domain *box) {
    int n_begun = begin_leaps(leaps, list, number, box->n_dims);
    for (int level = 0; level < PTI_LEAP_LEVELS; level++)
        include(&leaps->leap[list->open[level]], box);
    list->n_boxes++;
    return n_begun;
}

static bool is_apart(const pti_leap *leap, const polytile_domain *box) {
    for (int d = 0; d < leap->n_dims; d++)
        if (leap->range[d].lo > box->range[d].hi || leap->range[d].hi < box->range[d].lo)
            return true;
    return false;
}

int64_t pti_skip_list_over(const pti_leap *leap, int n_leaps, const polytile_domain *box,
                           int64_t next) {
    for (int level = 0; level < n_leaps && is_apart(&leap[level], box); level++)
        next = leap[level].end;
    return next;
}
