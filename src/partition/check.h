#ifndef POLYTILE_PARTITION_CHECK_H
#define POLYTILE_PARTITION_CHECK_H

#include "base/text.h"
#include "partition/schedule.h"

/**
 * Replay a schedule on sets and prove it right, knowing only the instance and nothing of the
 * planner.
 *
 * Proves that waits point backwards; that superblocks are disjoint and cover the launch domain;
 * that every launch finds the newest version of its whole footprint resident, ordered before it by
 * streams and waits; that memory is not reused before everything that uses it is done; that
 * placements stay inside the arena and the arena inside the limit, and that no two elements of a
 * placement share bytes; that nothing is uploaded that is stale on the host, no written element is
 * lost, downloaded early or twice, and every written element reaches the host, and no other.
 *
 * Returns true if all holds; otherwise false with the first violation in *why (operation, array,
 * box).
 */
bool pti_schedule_check(const pti_schedule *schedule, pti_text *why);

#endif
