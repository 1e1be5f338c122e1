#ifndef POLYTILE_DISTRIBUTE_GROUP_GROUP_H
#define POLYTILE_DISTRIBUTE_GROUP_GROUP_H

#include "distribute/exchange/transport.h"
#include "distribute/policy/policy.h"
#include "distribute/share/ownership.h"
#include "distribute/share/speed.h"
#include "queue/member.h"
#include "queue/over_group.h"

/* distribute/group: a queue over the members of this process. It records launches, cuts them for
 * the members, and runs exchanges between them. */

/* A queue over several members. Launches are recorded as they come. When something is waited for,
 * or many are recorded, they are cut into supersteps. Of each superstep every local member runs its
 * work on its own queue, after an exchange of what the members lack. */

typedef struct pti_group pti_group;

/** How a queue is shared. Zeros are the defaults. */
typedef struct pti_group_options {
    const pti_member_grid *grid; /* NULL: balanced */
    pti_distribution distribution;
    int64_t most_launches; /* of a superstep; 0: chosen by what is computed twice */
    pti_policy policy;     /* of members over one memory, of a group in one process */
    bool is_by_speed;      /* the distribution is weighted by speeds that are measured */
    bool deals_rows; /* by the policy, where all operands are on the host; else owners compute */
    bool deals_sums; /* the same of launches whose rows reduce into the same elements */
    /** The speed of each local member; copied. The first launch of a group in one process finds the
     * distribution from these. NULL: the distribution is as given. */
    const pti_speed *speed;
} pti_group_options;

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

/** Whose memory members' arrays lie over. */
typedef enum pti_group_memory {
    PTI_GROUP_PROGRAMS, /* attached: the program's, all of the array in every process */
    PTI_GROUP_OWN,      /* distributed: memory of the group's, a box a member */
    PTI_GROUP_QUEUES    /* internal: the members' queues', a box a member */
} pti_group_memory;

/** What a group knows of an array of its queue. */
typedef struct pti_group_array {
    polytile_array *array; /* the queue's; NULL: the position is free */
    pti_group_memory memory;
    polytile_array **member; /* one a local member, over a box around what it needs; NULL until it
                                needs something */
    pti_ownership ownership;
    bool is_written;   /* by a launch that was run */
    bool is_leaving;   /* members' queues know that it ends */
    bool is_discarded; /* likewise, that its elements are dead; while they are notified */
} pti_group_array;

/** An array by the queue's array; it is of this group's queue. */
pti_group_array *pti_group_find(pti_group *group, const polytile_array *array);

/** A local member's array over a box at least: made, or made anew if it is too small. Errors:
 * NO_MEMORY, and those of what ran before. */
polytile_status pti_group_reach(pti_group *group, int position, int local,
                                const polytile_domain *box);

/** The program changed elements of owners in their members' arrays: nobody has copies of them.
 * Every process says so, in the same order as anything else. */
void pti_group_note_changed(pti_group *group, const polytile_array *array);

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
