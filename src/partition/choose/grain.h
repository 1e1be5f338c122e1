#ifndef POLYTILE_PARTITION_CHOOSE_GRAIN_H
#define POLYTILE_PARTITION_CHOOSE_GRAIN_H

#include "access/pieces/ways.h"
#include "base/context.h"
#include "partition/cut/partition.h"
#include <polytile/plan.h>

/* Into how large pieces a launch of a queue is cut. */

/** What is to be cut, and what is known of the queue. */
typedef struct pti_grain_request {
    pti_ways
        *ways; /* to hold the arrays of the launch, whose pieces are padded as images are; those
                       that are tried are added */
    const polytile_plan_options
        *options;        /* limit_bytes is ignored; small pieces have fill_threads, on average */
    int64_t arena_bytes; /* of the device, for everything resident */
    bool all_fit;        /* every array of the queue fits it whole */
    const pti_partition
        *former; /* of a launch over the same data, to be cut in the same way so that both
                                    use the same pieces; NULL: none */
} pti_grain_request;

/**
 * Cut a launch into superblocks, and choose how its arrays are held.
 *
 * - One superblock if everything fits, with arrays as declared.
 * - Else small pieces, so that nearly all of the arena can hold data that stays, if the launch
 *   moves no more in these (a stencil). A piece is a 64th of the arena, and up to an eighth where
 *   smaller ones would move more, consist of latency or planning, or leave a part of the device
 *   idle.
 * - Else as the planner cuts a single launch for the arena (a matrix product). So are launches with
 *   scratch, whose threads are much work: few of them would leave a device idle. So are launches
 *   that are dealt to lanes, and so is all if the strategy asks for the fewest kernels.
 *
 * Cuts of a former launch over the same threads, or more of them, are taken over where they move no
 * more either and three of them fit.
 *
 * Each superblock fits the arena alone, every operand's piece padded to PTI_RESIDENT_ALIGNMENT; of
 * small pieces, and those of a former launch, three do. Operands count one by one, also where they
 * are one array: pti_pieces_find() never makes more of them.
 *
 * A launch that goes through much more than the arena keeps its strips, if it has some: pieces then
 * have the places of a launch by itself (arena/arena.h), as they were counted.
 *
 * way: the one that was taken.
 * Errors  As polytile_plan_create(): NO_FIT with the certificate, UNSUPPORTED, NO_MEMORY.
 * Owns    The caller frees *partition with pti_partition_free().
 */
polytile_status pti_grain_choose(polytile_context *ctx, const pti_grain_request *request,
                                 pti_partition *partition, int *way);

#endif
