#ifndef POLYTILE_PARTITION_CUT_PARTITION_H
#define POLYTILE_PARTITION_CUT_PARTITION_H

#include "access/set/shift.h"
#include "partition/cut/candidate.h"

/* partition/cut: ways of cutting one launch into superblocks. A family is one such way, a row of
 * the table in family.h with a file of its own. It says to which launches it applies, and by which
 * variants; how long a candidate of it takes, from estimates that all families have in common
 * (candidate.h); and what superblocks a candidate has, which this header holds. Where families
 * differ only by numbers, they are variants of one. */

/** Superblocks of a partition that come several times, each time shifted. All that they touch
 * moves with them. The same holds of as many superblocks just before the first. */
typedef struct pti_repeat {
    int64_t times; /* 0: none do; the list has them once */
    int64_t first, n;
    pti_shift shift;
} pti_repeat;

/** The superblocks of a launch in run order: pairwise disjoint boxes of whole blocks that cover the
 * domain. */
typedef struct pti_partition {
    int n_buffers;
    int n_lanes;                      /* to which superblocks are dealt in turn; 0 is as 1 */
    int64_t shape[POLYTILE_MAX_DIMS]; /* blocks of the largest superblock along each index */
    int64_t n_superblocks;
    int64_t n_allocated;            /* superblocks, while some are added */
    polytile_domain *superblock;    /* threads; owned */
    int n_places[PTI_MAX_OPERANDS]; /* of an operand's pieces; 0: as many as buffers */
    int n_strips;   /* of a superblock's tile along an index; 0: it is not cut into strips */
    int cut;        /* that index */
    int64_t cut_lo; /* its first thread, and the threads of a tile and of a strip */
    int64_t tile_threads;
    int64_t strip_threads;
    bool has_own_piece[PTI_MAX_OPERANDS]; /* each strip has, as long as the tile stays */
    pti_repeat repeat;
} pti_partition;

void pti_partition_free(pti_partition *partition);

/** Add a superblock; false when memory runs out. */
bool pti_partition_add(pti_partition *partition, const polytile_domain *threads);

/** The strip of a superblock's tile that it is; 0 without strips. */
int pti_partition_strip(const pti_partition *partition, int64_t superblock);

/** How many lanes the superblocks of a launch are dealt to: as many as are asked for; 1 of what
 * reduces, which would have to wait for each other, and where superblocks may have scratch in
 * common. */
int pti_partition_lanes(const pti_instance *instance, int64_t n_asked);

/** How many superblocks are made for some lanes within a limit, if there are threads for them:
 * while one runs, the next one's data are brought. */
enum { PTI_SUPERBLOCKS_A_LANE = 4 };

/**
 * Cut all threads of a launch along its first index, for n_lanes lanes and without a limit: into
 * one superblock a lane, or fewer where there are fewer blocks, which differ by a block at most.
 *
 * A lane runs its superblocks one after the other. Each begins when the slowest thread of the one
 * before it is done, and where a launcher goes on in rounds, it goes through all of them again. So
 * a lane with several takes longer for the same threads.
 *
 * Errors  False when memory runs out.
 */
bool pti_partition_for_lanes(const pti_instance *instance, int64_t block, int n_lanes,
                             pti_partition *partition);

/** No superblocks yet, with a candidate's shape and buffers. */
void pti_partition_begin(const pti_candidate *candidate, pti_partition *partition);

/** Make the superblocks of pti_partition_uniform(), with those once that repeat; none, where too
 * few do. Errors and owns as there. */
bool pti_partition_repeated(const pti_problem *problem, const pti_candidate *candidate,
                            pti_partition *partition);

/** The equal superblocks of a candidate, in serpentine order. Errors: false when memory runs out.
 * Owns: the caller frees the partition in either case. */
bool pti_partition_uniform(const pti_problem *problem, const pti_candidate *candidate,
                           pti_partition *partition);

#endif
