#ifndef POLYTILE_PARTITION_SCHEDULE_PERIOD_H
#define POLYTILE_PARTITION_SCHEDULE_PERIOD_H

#include "access/set/shift.h"

/*
 * The part of a schedule that comes several times.
 *
 * A schedule may be a prologue, a period that comes several times, and an epilogue. Its lists have
 * each of the three once, one after the other: operations, placements, the superblocks of each
 * launch. Each turn of the period is the one before it shifted: boxes of a launch's threads by a
 * shift of that launch, boxes of an array by a shift of that array. Offsets in the arena, sizes and
 * kinds are the same in all turns. A schedule without a period is the prologue alone, and is called
 * flat.
 *
 * Waits of a turn are for operations of the same turn, or of the one before: those of the first
 * turn are for the prologue's last ones, as many as a turn has. Waits of the epilogue are for the
 * last turn. What is not waited for, before these, is done: a schedule runs in stretches, and none
 * begins before the one before it has ended (stretch.h).
 *
 * Source  Software pipelining: Lam 1988. The carried pieces are what a loop invariant speaks of.
 */

/**
 * A piece that is on the device between turns.
 *
 * A turn finds the k-th one at the period's k-th placement, and the epilogue at its own k-th one.
 * These stand for the placement in which the prologue, or the turn before, leaves the piece.
 */
typedef struct pti_carried {
    int64_t first;   /* the placement in which the prologue leaves it */
    int64_t left;    /* in which a turn leaves it, one of the period's */
    pti_boxes valid; /* when the first turn begins, in their newest version; owned */
    pti_boxes dirty; /* of those, newer than the host's; owned */
} pti_carried;

/** What a turn has of a launch. */
typedef struct pti_period_launch {
    int64_t first_superblock, n_superblocks; /* of the schedule's list */
    pti_shift threads;
} pti_period_launch;

/** Positions count in the lists of the schedule. */
typedef struct pti_period {
    int64_t times; /* turns; 0: the schedule is flat */
    int64_t first_op, n_ops;
    int64_t first_kernel, n_kernels;       /* sub-kernels before the first turn, and of each */
    int64_t first_placement, n_placements; /* of each turn: those of carried pieces first */
    int n_launches;                        /* those of the schedule */
    pti_period_launch *launch;             /* of each; owned, as all below */
    pti_shift *array;                      /* of each operand of the schedule's instance */
    int n_carried;
    pti_carried *carried;
} pti_period;

/** Return how often something comes that is at a position of a list, of which the period has n from
 * first on. */
static inline int64_t pti_period_times(const pti_period *period, int64_t first, int64_t n,
                                       int64_t position) {
    return period->times > 0 && position >= first && position < first + n ? period->times : 1;
}

void pti_period_free(pti_period *period);

/** Copy a period of a schedule of n_operands operands; false when memory runs out. The caller frees
 * the copy in both cases. */
bool pti_period_copy(const pti_period *period, int n_operands, pti_period *copy);

#endif
