#ifndef POLYTILE_PARTITION_CUT_PARTITION_H
#define POLYTILE_PARTITION_CUT_PARTITION_H

#include "partition/cut/candidate.h"

/* partition/cut: ways of cutting one launch into superblocks: candidates, what they are
 * estimated to cost (candidate.h), and here the superblocks, each family of shapes in a file of
 * its own. */

/** The superblocks of a launch in run order: pairwise disjoint boxes of whole blocks that cover the
 * domain. */
typedef struct pti_partition {
    int n_buffers;
    int64_t shape[POLYTILE_MAX_DIMS]; /* blocks of the largest superblock along each index */
    int64_t n_superblocks;
    polytile_domain *superblock; /* threads; owned */
    bool in_lines;               /* what does not depend on one index stays in one place */
    int line;                    /* that index */
    int n_strips; /* of a tile, each with its own piece of what is accumulated; else 0 */
    int *strip;   /* of each superblock; owned; NULL without strips */
    pti_strips strips;
} pti_partition;

void pti_partition_free(pti_partition *partition);

/** Add a superblock; false when memory runs out. */
bool pti_partition_add(pti_partition *partition, int64_t *capacity, const polytile_domain *threads);

/** The strip of a superblock's tile that it is; 0 without strips. */
int pti_partition_strip(const pti_partition *partition, int64_t superblock);

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
 * The superblocks of a candidate cut into strips, which follow each other inside each of them: a
 * strip's accumulators stay while others are computed, and go out while those of the next ones come
 * to their end. The first superblock is cut along the accumulated index as well, so that a pipeline
 * fills sooner. Errors: false when memory runs out.
 */
bool pti_partition_in_strips(const pti_problem *problem, const pti_partition *even,
                             pti_partition *made);

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
