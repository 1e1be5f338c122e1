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
 * Proves of operations and memory:
 * - Waits point backwards.
 * - Placements stay inside the arena, and the arena inside the limit. No two elements of a
 *   placement share bytes.
 * - Memory is not reused before everything that uses it is done.
 *
 * Proves of launches:
 * - The superblocks of each are disjoint, cover its domain and run in their order.
 * - Launches that are interleaved do to every element what they do one after the other (shape.h).
 * - Each finds the newest version of its whole footprint resident, whichever launch wrote it.
 *   Streams and waits order that before it.
 *
 * Proves of transfers:
 * - Nothing is uploaded that is stale on the host or that nobody wrote.
 * - No written element is downloaded early, or when the host has it.
 * - Every written element reaches the host, and no other.
 *
 * From an invalidation on the host's version of its elements is the newest, and no other counts.
 *
 * What lies on the device before and after is taken and given as replay.h says: written
 * elements reach the host or stay in a holding that says so. With several launches, what is newest
 * may be lost, in memory that something else takes over, if a later launch writes it again before
 * anything uses it, or if its array is dropped. A reduction that starts from the identity may
 * overwrite what is newest only with all that its own launch then combines into.
 *
 * A schedule with a period is proved by a step of induction (period.h).
 *
 * Returns true if all holds; otherwise false with the first violation in *why (operation, array,
 * box), or with why->failed set: memory ran out.
 */
bool pti_schedule_check(const pti_schedule *schedule, pti_text *why);

#endif
