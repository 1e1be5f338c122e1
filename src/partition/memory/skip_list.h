#ifndef POLYTILE_PARTITION_MEMORY_SKIP_LIST_H
#define POLYTILE_PARTITION_MEMORY_SKIP_LIST_H

#include "access/set/boxes.h"

/* Leaps over a list of boxes: of every 16th, 256th, ... box it is known where as many boxes from it
 * on lie together, so that a search for boxes near another passes those that are apart at once. */

enum { PTI_LEAP_LEVELS = 4, PTI_LEAP_FACTOR = 16 };

/** So many boxes of a list. */
typedef struct pti_leap {
    int64_t end; /* the box behind them, -1: none */
    int n_dims;
    struct {
        int64_t lo, hi;
    } range[POLYTILE_MAX_DIMS]; /* around them; empty as long as there are none */
} pti_leap;

/** Leaps of several lists whose boxes have common numbers. Zero-initialise. */
typedef struct pti_skip_list {
    pti_leap *leap; /* owned; those from one box side by side, shortest first */
    int64_t n_leaps;
    int64_t capacity;
} pti_skip_list;

/** One list while it is made; zero-initialise. */
typedef struct pti_leap_list {
    int64_t n_boxes;
    int64_t open[PTI_LEAP_LEVELS]; /* leaps that the next box may be of */
} pti_leap_list;

/** Have room for so many boxes in so many lists. Errors: false when memory runs out. */
bool pti_skip_list_reserve(pti_skip_list *leaps, int64_t n_boxes, int n_lists);
void pti_skip_list_free(pti_skip_list *leaps);

/** Append a box to a list; returns how many leaps there are from it, which are the newest. */
int pti_skip_list_add(pti_skip_list *leaps, pti_leap_list *list, int64_t number,
                      const polytile_domain *box);

/** The box behind the longest of some leaps, shortest first, that lies apart from a box; `next` if
 * none does. */
int64_t pti_skip_list_over(const pti_leap *leap, int n_leaps, const polytile_domain *box,
                           int64_t next);

#endif
