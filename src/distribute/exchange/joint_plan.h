#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_JOINT_PLAN_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_JOINT_PLAN_H

#include "distribute/exchange/superstep.h"
#include "partition/schedule/joint.h"

/* Supersteps as joint schedules: who does what, in which order, and waits for whom. */

/** A superstep that is cut for the members, and what the members are like. */
typedef struct pti_joint_request {
    const pti_superstep *superstep;
    const pti_superstep_parts *parts;
    /** The threads of the first launch that can run before anything arrives, of each of these
     * members; without dimensions, or empty: none. NULL: no member has any. */
    const polytile_domain *inner;
    const bool *is_shared; /* of each array: members of a process have the same host memory of it */
    int n_local;           /* members of each process */
    bool shares_memory;    /* members of a process have the same memory of some arrays */
    bool keeps; /* devices keep all, so that several may compute the same shared elements */
    bool pulls; /* members of a process reach the memory of each other's devices */
    /** The process waits for its members in the end, since they may read until then what others
     * of them compute; see pti_joint_meets(). */
    bool meets;
    const bool *is_lent;     /* of each array: members may still read there what others own */
    const char *const *name; /* of each array, for texts; NULL: numbers do */
} pti_joint_request;

/** What a member computes in the superstep. */
static inline const pti_work *pti_joint_work_of(const pti_joint_request *request, int member) {
    return &request->parts->work[member - request->parts->first];
}

/** Fill in the operations of the process that has the members first .. first + n_local - 1. False
 * when memory runs out. The caller frees the list with pti_joint_list_free(), also then. */
bool pti_joint_plan_list(const pti_joint_request *request, int first, int n_local,
                         pti_joint_list *list);

/** List the operations of an exchange between host memories, which have all that is sent. */
bool pti_joint_plan_messages(const pti_exchange *exchange, int first, int n_local,
                             pti_joint_list *list);

/* joint_shared.c: members over one memory. */

/** Return whether some of them may still use what others are about to write: all wait first. */
bool pti_joint_waits_first(const pti_joint_request *request, int first, int n_local);

/** How many operations a list begins with that are due only if something is lent that is
 * written. */
int pti_joint_count_lent_ops(const pti_joint_request *request, int first, int n_local);

/** Set is_lent of each array: whether members may read there, after the superstep, what others
 * own. */
void pti_joint_lend(const pti_joint_request *request, int first, int n_local, bool *is_lent);

/** Return whether members get what they read of others' elements of an array from these' devices,
 * in place of through host memory: devices that keep all, if the superstep changes the array, so
 * that these elements are old after it and forgotten. */
bool pti_joint_pulls(const pti_joint_request *request, int array);

/** Return whether members read there what others compute in the same superstep: what they write
 * goes there when all of them are done. The request's own answer does not count. */
bool pti_joint_meets(const pti_joint_request *request);

/** Copies that are not there after a superstep: what several members computed of the same memory
 * stays with their devices, which forget it. */
void pti_joint_drop_ghosts(const pti_joint_request *request, pti_copies *copies);

/* joint_holdings.c */

/**
 * All processes, with n_local members each, and what is so before and after: the copies that are
 * given, and what members own. The parts are of all members.
 *
 * Returns NULL when memory runs out. The caller frees it with pti_joint_free().
 */
pti_joint_schedule *pti_joint_plan(const pti_joint_request *request, int n_local,
                                   const pti_copies *before, const pti_copies *after);

#endif
