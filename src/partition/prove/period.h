#ifndef POLYTILE_PARTITION_PROVE_PERIOD_H
#define POLYTILE_PARTITION_PROVE_PERIOD_H

#include "base/text.h"
#include "partition/schedule/stretch.h"

/*
 * The proof of a schedule with a period: one step of induction.
 *
 * A stretch is proved as any flat schedule is: from what is carried before it to what is carried
 * after it. What the prologue leaves is what the first turn finds. Of the stretches that are turns
 * alone, one is proved. The others are that one moved on, with all that its threads touch, as
 * this header proves; so they are right where it is, and lead from what is carried to the same
 * moved on. The last stretch is proved from what is carried then. No stretch begins before the one
 * before it has ended, so nothing of different stretches races.
 */

/**
 * Prove of a schedule with a period all but its stretches.
 *
 * Proves:
 * - It is one launch by itself, and all numbers are in range, each of its own part of the lists.
 * - The turns follow one another along one index of the threads, without gaps or overlaps, from the
 *   prologue to the epilogue, which are whole along all others. So stretches whose superblocks are
 *   disjoint and cover the box around them cover the launch domain together.
 * - What threads of the turns touch of an array moves on with them by the array's shift: no section
 *   is clipped where it moves. So does all that lies on the device, and stays inside its array.
 * - Carried pieces are found where they are left, moved on, by the first turn, the next one and the
 *   epilogue.
 *
 * Returns true if all holds; otherwise false with the first violation in *why.
 */
bool pti_check_period(const pti_schedule *schedule, pti_text *why);

/** The box around the superblocks of a flat schedule. */
polytile_domain pti_around_superblocks(const pti_schedule *schedule, int64_t first, int64_t n);

#endif
