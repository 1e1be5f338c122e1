#ifndef POLYTILE_LAUNCH_HOST_TEAM_H
#define POLYTILE_LAUNCH_HOST_TEAM_H

#include "launch/device/device.h"
#include <polytile/message_ring.h>

/**
 * Run a launch of a team kernel: a thread a slot, all at once. The calling thread waits for them.
 *
 * Errors  NO_FIT (not all threads start; none has run then), and what ends the launch, as
 *         polytile/message.h has it.
 */
polytile_status pti_host_run_team(polytile_context *ctx, const pti_sub_kernel *sub_kernel);

/** Find where the elements of each operand lie. Shapes: memories: one an operand. */
void pti_team_find_memories(const pti_sub_kernel *sub_kernel, pt_memory *memories);

#endif
