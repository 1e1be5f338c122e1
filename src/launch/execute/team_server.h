#ifndef POLYTILE_LAUNCH_EXECUTE_TEAM_SERVER_H
#define POLYTILE_LAUNCH_EXECUTE_TEAM_SERVER_H

#include "launch/device/device.h"
#include "message/server.h"

/**
 * Make what serves the messages of a launch, of which all slots are one part; of a kernel that is
 * no team kernel there is none, and *part is NULL.
 *
 * Errors  NO_FIT (more slots than any device runs), INVALID (a time limit below 0), NO_MEMORY.
 * Owns    The caller ends its only part with pti_team_server_end(), or deals its slots out.
 */
polytile_status pti_team_server_create(const polytile_kernel *kernel, const polytile_domain *slots,
                                       const polytile_launch_options *options, bool has_program,
                                       pti_server_part **part);

/** Let go of a part of a launch, which has run, or never will; why: see pti_server_abandon(). The
 * caller retained its server. NULL, the part, does nothing. */
void pti_team_server_end(pti_server_part *part, const pti_error *why);

/** Refuse a team kernel, whose slots are not to run twice, for what runs kernels on copies. Errors:
 * UNSUPPORTED. */
polytile_status pti_team_refuse_copies(polytile_context *ctx, const polytile_kernel *kernel);

#endif
