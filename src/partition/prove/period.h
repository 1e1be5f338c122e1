#ifndef POLYTILE_PARTITION_PROVE_PERIOD_H
#define POLYTILE_PARTITION_PROVE_PERIOD_H

#include "base/text.h"
#include "partition/prove/replay.h"
#include "partition/schedule/stretch.h"

/*
 * The proof of a schedule with a period: one step of induction.
 *
 * A stretch is proved as any flat schedule is, of its own threads alone: from what is carried
 * before it to what is carried after it. What the prologue leaves is what the first turn finds. Of
 * the stretches that are turns alone, one is proved. The others are that one shifted, with all
 * that its threads touch, as this header proves; so they are right where it is, and lead from what
 * is carried to the same shifted. The last stretch is proved from what is carried then. No stretch
 * begins before the one before it has ended, so nothing of different stretches races.
 *
 * Several launches one after the other do the same as their threads stretch by stretch: no thread
 * of a later launch is in a stretch before one of an earlier launch with which it conflicts.
 */

/**
 * Prove of a schedule with a period all but its stretches.
 *
 * Proves:
 * - All numbers are in range, each of its own part of the lists.
 * - The turns of each launch follow one another along one index of its threads, without gaps or
 *   overlaps, from the prologue to the epilogue, which are whole along all others. So stretches
 *   whose superblocks are disjoint and cover the box around them cover the launch domain together.
 * - What threads of the turns touch of an array moves with them by the array's shift: no section
 *   is clipped where it moves. So does all that lies on the device, and stays inside its array.
 * - Carried pieces are found where they are left, shifted, by the first turn, the next one and the
 *   epilogue.
 *
 * Returns true if all holds; otherwise false with the first violation in *why.
 */
bool pti_check_period(const pti_schedule *schedule, pti_text *why);

/** The box around the superblocks of a flat schedule. */
polytile_domain pti_around_superblocks(const pti_schedule *schedule, int64_t first, int64_t n);

/** The box around what a launch has in the prologue (0), a turn (1) or the epilogue (2). */
polytile_domain pti_threads_of_part(const pti_schedule *schedule, int l, int part);

/** The one dimension along which a shift moves boxes on; -1: there is none. */
int pti_axis_of_shift(const pti_shift *shift, int n_dims);

/** The value of an expression at the corner of a box where it is least, or largest. */
int64_t pti_value_at_corner(const pti_affine *affine, const polytile_domain *threads, bool largest);

/* period_order.c */

/** Prove that threads that conflict are in stretches in the order of their launches, of several
 * launches whose sections move by their arrays' shifts. */
bool pti_check_turns_in_order(const pti_schedule *schedule, pti_text *why);

/* period_states.c: what is known of arrays beside what lies on the device. It moves as what lies
 * there does, but where stretches have not come yet. */

/** What is known of an array between stretches. */
typedef struct pti_stretch_state {
    pti_boxes unwritten; /* elements that nobody wrote yet */
    pti_boxes lost;      /* whose newest version is nowhere */
    polytile_range rows; /* along its axis: where the stretch before used it */
} pti_stretch_state;

/** Free states of all arrays, and the list, which may be NULL. */
void pti_stretch_states_free(pti_stretch_state *states, int n_arrays);

/** List what a replay knows at its end of all arrays of a schedule with a period; NULL when memory
 * runs out. */
pti_stretch_state *pti_array_states_of(const pti_replay *replay, const pti_period *period);

/** Let a stretch begin with states. False when memory runs out. */
bool pti_array_states_give(const pti_stretch_state *states, pti_schedule *stretch);

/**
 * Prove that n stretches of some turns each lead from states after the prologue to states shifted,
 * knowing those after the first of them; these become the states after the last.
 *
 * Errors  False, with the array in *why; also when memory runs out.
 */
bool pti_check_states_move(const pti_schedule *schedule, int64_t n_turns, int64_t n,
                           const pti_stretch_state *before, pti_stretch_state *after,
                           pti_text *why);

/** Prove that the last stretch is where its states are known: nowhere before where the stretch
 * before it was, after `turns` turns. */
bool pti_check_last_rows(const pti_schedule *schedule, int64_t turns,
                         const pti_stretch_state *before, const pti_stretch_state *last,
                         pti_text *why);

#endif
