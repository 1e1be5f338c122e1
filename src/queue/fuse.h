#ifndef POLYTILE_QUEUE_FUSE_H
#define POLYTILE_QUEUE_FUSE_H

#include "partition/skew.h"
#include "queue/steps.h"

/* Launches of a window that run together, slab by slab, instead of one after the other: where the
 * arrays do not all fit the device, or, in place, the caches of the host; and where they all fit the
 * device, but slabs that stay in its cache are faster. */

typedef struct pti_fused {
    int n_launches;   /* that run together; 0: those at hand run one after the other */
    int n_single;     /* then: how many of them it would be useless to try again */
    bool is_resident; /* their arrays lie whole on the device */
    pti_chain chain;
    pti_skew_shape shape;
    pti_cut_launch *launch; /* owned, as is the rest */
    bool *dropped;
    pti_boxes *unwritten;
    pti_instance *arrays; /* in place: of all positions; else NULL */
} pti_fused;

/**
 * Find how many steps, from one on, run together; that they do not is told at the level info.
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees *fused with pti_fused_free(), also after an error.
 */
polytile_status pti_fuse_find(const polytile_queue *queue, const pti_steps *steps, int first,
                              pti_fused *fused);

/** Their schedule, in place or when nothing is resident; NULL when memory runs out. The caller frees
 * it. */
pti_schedule *pti_fuse_build(const polytile_queue *queue, pti_fused *fused);

/**
 * The same where their arrays lie whole on the device, out of a schedule that runs them one after the
 * other; NULL where that moves something between them, or when memory runs out. The caller frees it.
 */
pti_schedule *pti_fuse_build_resident(const pti_fused *fused, const pti_schedule *apart);

void pti_fused_free(pti_fused *fused);

#endif
