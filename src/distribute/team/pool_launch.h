#ifndef POLYTILE_DISTRIBUTE_TEAM_POOL_LAUNCH_H
#define POLYTILE_DISTRIBUTE_TEAM_POOL_LAUNCH_H

#include "distribute/share/pool.h"
#include "distribute/team/state.h"

/* What the files of launches from a pool share; team_pool.c says what those are. */

/** What a member's queue is told of elements of its array: pti_queue_fetch(), pti_queue_renew(). */
typedef polytile_status pti_team_tell(polytile_queue *queue, polytile_array *array,
                                      const pti_boxes *elements);

/* pool_home.c */

/** Whether the host's memory has the newest version of all that a launch touches, and every member
 * knows that. Errors: NO_MEMORY. */
polytile_status pti_team_find_home(const pti_team *team, const pti_prepared *prepared,
                                   bool *is_home);

/** Have it there, and known. All members are settled. Errors: NO_MEMORY, those of members. */
polytile_status pti_team_bring_home(pti_team *team, const pti_prepared *prepared);

/* pool_run.c */

/**
 * Run a launch piece by piece, by whoever is done with one. Its results are at home afterwards.
 *
 * What it touches is at home before, and all members are settled.
 * Errors  Of any member: what was to be written is left incomplete; NO_MEMORY.
 */
polytile_status pti_team_run_pieces(pti_team *team, const pti_recorded *recorded,
                                    const pti_pool *pool);

#endif
