#ifndef POLYTILE_DISTRIBUTE_MEMBERS_PREPARED_SUPERSTEP_H
#define POLYTILE_DISTRIBUTE_MEMBERS_PREPARED_SUPERSTEP_H

#include "distribute/members/state.h"

/* Supersteps that are cut for the members, and kept for the next one like it. */

/** A superstep that is cut for the members, kept for the next one like it. */
typedef struct pti_prepared_superstep {
    struct pti_prepared_superstep *next;
    int n_launches;
    bool runs_once;    /* no two members may compute what goes to memory that others share */
    bool meets;        /* see pti_joint_meets() */
    int64_t *serial;   /* of the launches, as prepared */
    int64_t begins;    /* the copies before it: pti_group.copies_id */
    int64_t ends;      /* and after it */
    pti_copies copies; /* after it */
    pti_superstep_parts parts;
    pti_joint_list list; /* what this process does; its memory does not move */
    /** The list with pulls, where members' devices are linked and the superstep has any; else
     * without operations. */
    pti_joint_list pull_list;
    int n_lent_ops; /* of either: see pti_joint_count_lent_ops() */
    pti_messages messages;
} pti_prepared_superstep;

/** Return whether what a local member owns and computes twice fits its device, so that nothing of
 * it has to leave it in between. */
bool pti_group_fits(const pti_group *group, int local);

/** A launch as those see it that cut it. runs_once: no two members may compute what goes to memory
 * that others share. Slots run once in any case. */
pti_shared_launch pti_group_shared_launch(const pti_group *group, const pti_prepared *prepared,
                                          bool runs_once);

/** List recorded launches as those see them that cut them. */
void pti_group_list_launches(const pti_group *group, int at, int n_launches, bool runs_once,
                             pti_shared_launch *launch);

/** The next superstep of what is recorded, from `at` on, cut for the members; NULL when memory runs
 * out, which happens only to what is new. It is new on all processes or on none. */
pti_prepared_superstep *pti_group_find_prepared(pti_group *group, int at, bool *is_new);

/** Return the list that this process runs of a superstep: with pulls if every device already holds
 * all its arrays whole, so that nothing moves there while it runs; else without. may_wait: wait for
 * running launches, which may complete arrays. */
const pti_joint_list *pti_group_choose_list(const pti_group *group,
                                            const pti_prepared_superstep *prepared, bool may_wait);

/* joint_request.c */

/** A superstep as those ask about it that plan who waits for whom. */
pti_joint_request pti_group_joint_request(const pti_group *group, const pti_superstep *superstep,
                                          const pti_superstep_parts *parts, bool runs_once,
                                          bool pulls);

#endif
