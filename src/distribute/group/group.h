#ifndef POLYTILE_DISTRIBUTE_GROUP_GROUP_H
#define POLYTILE_DISTRIBUTE_GROUP_GROUP_H

#include "distribute/members/state.h"
#include "queue/over_group.h"

/* distribute/group: a queue over several members. It records launches as they come. When something
 * is waited for, or many are recorded, it cuts them into supersteps. Of each superstep every local
 * member runs its work on its own queue, after an exchange of what the members lack. */

/**
 * A queue of the members that a transport joins.
 *
 * Shapes  members: n_local queues, each on one device; they become the group's, as does the
 *         transport, also on error.
 * Errors  NO_MEMORY.
 */
polytile_status pti_group_create(polytile_context *ctx, const char *text, pti_transport *transport,
                                 polytile_queue *const *members, const pti_group_options *options,
                                 polytile_queue **queue);

/** An array by the queue's array; it is of this group's queue. */
pti_group_array *pti_group_find(pti_group *group, const polytile_array *array);

/** The group of a queue that has one; NULL: it has none. */
pti_group *pti_group_of(const polytile_queue *queue);

/** Other processes have no such queue: it ends without meeting them. */
void pti_group_give_up(pti_group *group);

/** The transport of a group. */
pti_transport *pti_group_transport(pti_group *group);

/** Run what is recorded and wait for it; collective. Errors: of any member of any process. */
polytile_status pti_group_wait(pti_group *group);

/**
 * Give an array to the queue whose elements lie with their owners, in memory of the group's: each
 * local member has a box around what it owns and some elements more.
 *
 * Collective. Errors: INVALID (another number of weights than parts), NO_MEMORY, OVERFLOW.
 */
polytile_status pti_group_add_distributed(pti_group *group, polytile_array *array,
                                          const pti_distribution *distribution);

#endif
