#ifndef POLYTILE_PARTITION_PROVE_JOINT_JOINT_CHECK_H
#define POLYTILE_PARTITION_PROVE_JOINT_JOINT_CHECK_H

#include "partition/schedule/joint.h"

/* partition/prove/joint: proves joint schedules right before they run, and knows nothing of who
 * planned them, or who owns what. */

/**
 * Replay a joint schedule on sets and prove it right.
 *
 * Proves:
 * - Each thread is run, and once where results are combined.
 * - Each thread finds the newest version, in the order of the launches, of all that it reads.
 * - Each message that is received is the one that was sent, of the same elements in the same order,
 *   and in the version that is due.
 * - No message is left. Nobody waits for one that is sent after it, or for others that wait
 *   themselves.
 * - Partial results are complete when they are combined, and combined once by all.
 * - Nothing is read or moved in host memory while somebody may write there.
 * - Nothing that a device brings to the host late can overwrite newer elements.
 * - What goes from device to device is in its newest version, nothing else runs meanwhile, and it
 *   is forgotten in the end: host memory does not have it.
 * - What is declared to hold afterwards does hold.
 *
 * Operations of members run at any time from where they stand until they are waited for. Processes
 * run at any speed.
 *
 * Trusted are the instances, and what is declared to hold before. A member's device is trusted to
 * run its operations after those before them that use the same elements. A device that keeps what
 * it has is trusted to do so until it has forgotten it, or until the schedule ends.
 *
 * Returns true if all holds; otherwise false with the first violation in *why (member, operation,
 * array, box), or with why->failed set: memory ran out.
 */
bool pti_joint_check(const pti_joint_schedule *schedule, pti_text *why);

#endif
