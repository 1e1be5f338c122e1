#ifndef POLYTILE_PARTITION_PARTITION_H
#define POLYTILE_PARTITION_PARTITION_H

#include "partition/candidate.h"

/** The superblocks of a launch in run order: pairwise disjoint boxes of whole blocks that cover the
 * domain. */
typedef struct pti_partition {
    int n_buffers;
    int64_t shape[POLYTILE_MAX_DIMS]; /* blocks of the largest superblock along each index */
    int64_t n_superblocks;
    polytile_domain *superblock; /* threads; owned */
} pti_partition;

void pti_partition_free(pti_partition *partition);

/** Add a superblock; false when memory runs out. */
bool pti_partition_add(pti_partition *partition, int64_t *capacity, const polytile_domain *threads);

/** The equal superblocks of a candidate, in serpentine order. Errors: false when memory runs out.
 */
bool pti_partition_uniform(const pti_problem *problem, const pti_candidate *candidate,
                           pti_partition *partition);

/**
 * The superblocks of a candidate with the first and the last one cut along the fastest index, where
 * uploads and downloads depend on it, so that a pipeline fills and drains sooner: an eighth, an
 * eighth, a quarter and a half of a superblock, and the same the other way round. Errors: false
 * when memory runs out.
 */
bool pti_partition_taper(const pti_problem *problem, const pti_candidate *candidate,
                         const pti_partition *even, pti_partition *tapered);

/**
 * Superblocks of varying size, for footprints that grow or shrink with the position: along one such
 * index each superblock is as long as fits, the others are cut evenly. Cutting greedily is optimal
 * along one index, since a part of what fits fits.
 *
 * *found is false when no index is worth it, nothing fits, or there would be more than
 * max_superblocks. Errors: false when memory runs out.
 */
bool pti_partition_varying(const pti_problem *problem, int n_buffers, int64_t max_superblocks,
                           bool *found, pti_partition *partition);

#endif
