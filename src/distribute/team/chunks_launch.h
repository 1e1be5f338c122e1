#ifndef POLYTILE_DISTRIBUTE_TEAM_CHUNKS_LAUNCH_H
#define POLYTILE_DISTRIBUTE_TEAM_CHUNKS_LAUNCH_H

#include "distribute/share/chunk_list.h"
#include "distribute/team/state.h"

/* What the files of self-scheduled launches share; chunks_launch.c says what those are. */

/** Queues something about elements of a member's array: pti_queue_fetch(),
 * pti_queue_invalidate(). */
typedef polytile_status pti_team_notify(polytile_queue *queue, polytile_array *array,
                                        const pti_boxes *elements);

/* chunks_home.c */

/** Whether the host's memory has the newest version of all that a launch touches, and every member
 * knows that. Errors: NO_MEMORY. */
polytile_status pti_team_find_home(const pti_team *team, const pti_prepared *prepared,
                                   bool *is_home);

/** Bring it there, and note that. No member runs anything. Errors: NO_MEMORY, those of members. */
polytile_status pti_team_bring_home(pti_team *team, const pti_prepared *prepared);

/* chunks_run.c */

/**
 * Run a launch in chunks: each free member takes the next one. Its results are at home afterwards.
 *
 * What it touches is at home before, and no member runs anything.
 * Errors  Of any member: what was to be written is left incomplete; NO_MEMORY.
 */
polytile_status pti_team_take_chunks(pti_team *team, const pti_recorded *recorded,
                                     const pti_chunk_list *chunks);

#endif
