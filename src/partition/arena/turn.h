#ifndef POLYTILE_PARTITION_ARENA_TURN_H
#define POLYTILE_PARTITION_ARENA_TURN_H

#include "partition/arena/arena_builder.h"

/*
 * The turn of a schedule that stands for all that repeat it.
 *
 * What a superblock is given follows from the state before it alone: which pieces lie where, what
 * of them is valid and dirty, and what used their memory last. So once a turn leaves the state that
 * it found, shifted, all turns after it are that turn shifted, as long as what threads touch
 * moves with them. The partition says that it does (pti_repeat).
 */

/** Where an operand's piece was when the turn began. */
typedef struct pti_piece_mark {
    pti_placement placement; /* unless there is none */
    pti_piece_state state;   /* without sets */
    int carried;             /* of the period; -1: nothing was resident */
} pti_piece_mark;

/** A turn that is being laid out. Zero-initialise. */
typedef struct pti_turn {
    pti_piece_mark *piece; /* of each state; owned */
    pti_last *users;       /* of each cell, operand by operand; owned */
} pti_turn;

/** Begin the turn, before its first superblock. */
void pti_turn_begin(pti_arena_builder *builder, pti_turn *turn);

/** End the turn, and go on with the first superblock after the last that repeats it. Where the
 * state has not shifted as a whole, the builder fails, as UNSUPPORTED. */
void pti_turn_end(pti_arena_builder *builder, pti_turn *turn);

void pti_turn_free(pti_turn *turn);

/** Let the turn wait for nothing before the one before it, and what follows for nothing before the
 * turn: that is done (schedule/period.h). Of a flat schedule nothing changes. */
void pti_turn_forget_done(pti_schedule *schedule);

#endif
