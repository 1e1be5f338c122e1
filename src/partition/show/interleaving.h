#ifndef POLYTILE_PARTITION_SHOW_INTERLEAVING_H
#define POLYTILE_PARTITION_SHOW_INTERLEAVING_H

#include "partition/schedule/schedule.h"

/* How the launches of a schedule take turns, read from its operations alone, for pictures. */

/** Launches that take turns with one another, and with no others. */
typedef struct pti_interleaving_pass {
    int first;
    int end;         /* behind the last */
    int64_t n_slabs; /* rounds in which each launch has its turn, or none */
} pti_interleaving_pass;

typedef struct pti_interleaving {
    int n_passes;
    pti_interleaving_pass *pass; /* owned, as all below */
    int *pass_of;                /* of each launch */
    int *axis;                   /* of each launch: the index along which its turns proceed */
    int64_t *slab_of;            /* of each superblock: its round in its pass */
} pti_interleaving;

/**
 * Find passes and slabs of a schedule of several launches.
 *
 * Launches that run one after another are a pass each, with a slab for each range of the index
 * along which they are cut least often; those that are not cut at all and work on the same data in
 * the device's memory are one pass. False when memory runs out. Freed in both cases with
 * pti_interleaving_free().
 */
bool pti_interleaving_find(const pti_schedule *schedule, pti_interleaving *turns);
void pti_interleaving_free(pti_interleaving *turns);

/** The threads of a launch in a slab, as one box around them; false if there are none. */
bool pti_interleaving_threads(const pti_schedule *schedule, const pti_interleaving *turns,
                              int launch, int64_t slab, polytile_domain *threads);

#endif
