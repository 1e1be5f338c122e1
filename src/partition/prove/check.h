#ifndef POLYTILE_PARTITION_PROVE_CHECK_H
#define POLYTILE_PARTITION_PROVE_CHECK_H

#include "base/text.h"
#include "partition/schedule/schedule.h"

/* partition/prove: the schedule checker. It proves each schedule right before it runs, and knows
 * nothing of the planner. */

/**
 * Replay a schedule on sets and prove it right, knowing only the instances and nothing of the
 * planner.
 *
 * Proves that waits point backwards; that the superblocks of each launch are disjoint, cover its
 * domain and run in their order, and that launches that are interleaved do to every element what
 * they do one after the other (shape.h); that every launch finds the newest version of its
 * whole footprint resident, whichever launch wrote it, ordered before it by streams and waits; that
 * memory is not reused before everything that uses it is done; that placements stay inside the
 * arena and the arena inside the limit, and that no two elements of a placement share bytes; that
 * nothing is uploaded that is stale on the host or that nobody wrote, no written element is
 * downloaded early or when the host has it, and every written element reaches the host, and no
 * other.
 *
 * From an invalidation on the host's version of its elements is the newest, and no other counts.
 *
 * What lies on the device before and after is taken and given as replay.h says: written
 * elements reach the host or stay in a holding that says so. With several launches, what is newest
 * may be lost, in memory that something else takes over, if a later launch writes it again before
 * anything uses it, or if its array is dropped. A reduction that starts from the identity may
 * overwrite what is newest only with all that its own launch then combines into.
 *
 * Returns true if all holds; otherwise false with the first violation in *why (operation, array,
 * box), or with why->failed set: memory ran out.
 */
bool pti_schedule_check(const pti_schedule *schedule, pti_text *why);

#endif
