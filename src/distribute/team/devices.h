#ifndef POLYTILE_DISTRIBUTE_TEAM_DEVICES_H
#define POLYTILE_DISTRIBUTE_TEAM_DEVICES_H

#include "distribute/team/team.h"

/* A queue over several devices of one process. */

/** How many devices a text names, with commas between them: at least one. */
int pti_devices_count(const char *text);

/**
 * Open a queue over devices such as "cuda:0,cuda:1" or "cuda:0(memory=1GiB),host".
 *
 * Shapes  options: how they share it; speeds are measured here if is_by_speed.
 * Errors  Those of polytile_device_open() of each of them; INVALID (by speed: more devices than can
 *         have weights).
 */
polytile_status pti_devices_open(polytile_context *ctx, const char *text,
                                 const pti_team_options *options, bool is_by_speed,
                                 polytile_queue **queue);

/** Members of one process, by whose arrays' addresses it is known what lies in the same memory.
 * NULL when memory runs out. */
pti_transport *pti_transport_within(polytile_context *ctx, int n_members);

#endif
