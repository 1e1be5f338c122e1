#ifndef POLYTILE_ACCESS_SET_SKIP_LIST_H
#define POLYTILE_ACCESS_SET_SKIP_LIST_H

#include "access/set/boxes.h"

/* Skips over a list of boxes: every 16th, 256th, ... box has the hull of as many boxes from it on,
 * so that a search for boxes near another passes all that are apart at once. */

enum { PTI_SKIP_LEVELS = 4, PTI_SKIP_FACTOR = 16 };

/** Consecutive boxes of a list that a search may skip. */
typedef struct pti_skip {
    int64_t end; /* the box after them, -1: none */
    int n_dims;
    struct {
        int64_t lo, hi;
    } range[POLYTILE_MAX_DIMS]; /* around them; empty as long as there are none */
} pti_skip;

/** Skips of several lists whose boxes have common numbers. Zero-initialise. */
typedef struct pti_skip_list {
    pti_skip *skip; /* owned; those from one box side by side, shortest first */
    int64_t n_skips;
    int64_t capacity;
} pti_skip_list;

/** One list while it is made; zero-initialise. */
typedef struct pti_skip_builder {
    int64_t n_boxes;
    int64_t open[PTI_SKIP_LEVELS]; /* skips that the next box may be of */
} pti_skip_builder;

/** Have room for n_boxes boxes in n_lists lists. False when memory runs out. */
bool pti_skip_list_reserve(pti_skip_list *skips, int64_t n_boxes, int n_lists);
void pti_skip_list_free(pti_skip_list *skips);

/** Append a box to a list. Returns how many skips begin at it, which are the newest. */
int pti_skip_list_add(pti_skip_list *skips, pti_skip_builder *list, int64_t number,
                      const polytile_domain *box);

/** Return the box after the longest of some skips, shortest first, that lies apart from a box;
 * `next` if none does. */
int64_t pti_skip_list_over(const pti_skip *skip, int n_skips, const polytile_domain *box,
                           int64_t next);

#endif
