#ifndef POLYTILE_PARTITION_ARENA_ARENA_BUILDER_H
#define POLYTILE_PARTITION_ARENA_ARENA_BUILDER_H

#include "access/pieces/split.h"
#include "partition/arena/arena.h"
#include <polytile/plan.h>

/* What is known while a schedule is laid out superblock by superblock, for build.c and turn.c, and
 * what happens to pieces meanwhile. */

/** Where one operand stands while the schedule is laid out, or one strip's piece of it. */
typedef struct pti_piece_state {
    int64_t placement; /* -1: nothing resident */
    int cell;          /* of the operand, or region */
    polytile_domain hull;
    pti_boxes valid;  /* resident elements */
    pti_boxes dirty;  /* resident elements newer than the host's */
    pti_last writers; /* of the resident elements */
    pti_last before;  /* what used its memory before the piece */
} pti_piece_state;

/** What is known of an operand so far, whatever its piece is. */
typedef struct pti_arena_operand_state {
    pti_boxes initialised; /* fresh reductions: elements that have their identity or more */
    pti_boxes downloaded;
    bool may_upload_around; /* pti_arena_may_upload_around() */
} pti_arena_operand_state;

/** A schedule of one launch while it is made. */
typedef struct pti_arena_builder {
    pti_arena arena;           /* first: it is long, and is not zeroed */
    const polytile_link *link; /* NULL: as few bytes as possible */
    /* Sets that are made anew for each piece, in the same memory. */
    pti_boxes needed;
    pti_boxes shared;
    pti_boxes rest;
    pti_builder builder;
    pti_beside beside;
    int strip;                        /* of the current superblock */
    int n_strips;                     /* at least 1 */
    pti_arena_operand_state *operand; /* behind the pieces' states */
    pti_piece_state state[]; /* of each operand, and each strip of it that has a piece of its own */
} pti_arena_builder;

/** Return the state of an operand's piece that the current superblock uses. */
static inline pti_piece_state *pti_arena_state_of(const pti_arena_builder *of, int operand) {
    const bool is_own = of->arena.partition->has_own_piece[operand];
    return (pti_piece_state *)&of->state[operand * of->n_strips + (is_own ? of->strip : 0)];
}

/** Return the state of an operand as a whole; that of the first one, if several are combined. */
static inline pti_arena_operand_state *pti_arena_whole_of(const pti_arena_builder *of,
                                                          int operand) {
    return &of->operand[pti_operand_combined(of->arena.instance, operand)];
}

/** Return where the piece of an operand lies; NULL: nowhere. */
static inline const pti_placement *pti_arena_placement_of(const pti_arena_builder *of,
                                                          int operand) {
    const int64_t placement = pti_arena_state_of(of, operand)->placement;
    return placement < 0 ? NULL : &of->builder.schedule->placement[placement];
}

/* pieces.c */

/** Return whether a superblock finds its piece of an operand in place, in memory that it may go on
 * using.
 */
bool pti_arena_piece_stays(const pti_arena_builder *of, int operand, int64_t superblock,
                           const polytile_domain *hull);

/** Download what an operand's piece has newer than the host. */
void pti_arena_flush(pti_arena_builder *of, int operand, int64_t superblock);

/** Let a superblock find the newest of what it combines into through an operand on the host, as far
 * as other operands of the array have it. */
void pti_arena_settle_others(pti_arena_builder *of, int operand, int64_t superblock,
                             const polytile_domain *threads);

/** Take a cell for a new piece: the operand's next one, or the superblock's region. */
void pti_arena_take_cell(pti_arena_builder *of, int operand, int64_t superblock,
                         const polytile_domain *hull);

/** Add an operation that puts a box into the current piece of an operand. */
void pti_arena_write_in_cell(pti_arena_builder *of, pti_op_kind kind, int operand,
                             int64_t superblock, const polytile_domain *box, const pti_last *waits);

/* bring.c */

/** Return whether pieces of an operand may be filled with more than they need: what lies between is
 * on the host as it is on the device, since it is never written. */
bool pti_arena_may_upload_around(const pti_instance *instance, int operand);

/** Have the piece of an operand on the device, with all that a superblock needs of it. */
void pti_arena_bring(pti_arena_builder *of, int operand, int64_t superblock,
                     const polytile_domain *hull, const polytile_domain *threads);

#endif
