#ifndef POLYTILE_QUEUE_FUSE_H
#define POLYTILE_QUEUE_FUSE_H

#include "partition/skew.h"
#include "queue/steps.h"

/* Launches of a window that run together, slab by slab, instead of one after the other: where the
 * arrays do not all fit the device, or, in place, the caches of the host. */

typedef struct pti_fused {
    int n_launches; /* that run together; 0: those at hand run one after the other */
    int n_single;   /* then: how many of them it would be useless to try again */
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

/** Their schedule, when nothing is resident; NULL when memory runs out. The caller frees it. */
pti_schedule *pti_fuse_build(const polytile_queue *queue, pti_fused *fused);

void pti_fused_free(pti_fused *fused);

#endif
