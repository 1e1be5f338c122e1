#ifndef POLYTILE_QUEUE_FUSE_H
#define POLYTILE_QUEUE_FUSE_H

#include "partition/window/portion.h"
#include "queue/steps.h"

/* Launches of a window that run together, slab by slab, instead of one after the other: where the
 * arrays do not all fit the device, or, in place, the caches of the host; and where they all fit
 * the device, but slabs that stay in its cache are faster. partition/window/portion.h has how they are
 * found. */

typedef struct pti_fused {
    pti_portion_request request;
    pti_portion portion;  /* owned, as is the rest */
    pti_instance *arrays; /* in place: of all positions; else NULL */
    int n_launches;       /* of the window */
} pti_fused;

/**
 * Find how many steps, from one on, run together; which launch ends that, or why there are none, is
 * told at the level info.
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees *fused with pti_fused_free(), also after an error; it borrows the steps.
 */
polytile_status pti_fuse_find(const polytile_queue *queue, const pti_steps *steps, int first,
                              pti_fused *fused);

void pti_fused_free(pti_fused *fused);

#endif
