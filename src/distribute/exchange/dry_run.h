#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_DRY_RUN_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_DRY_RUN_H

#include "distribute/exchange/superstep.h"

/* What a group would do of launches, superstep by superstep: it is asked as a group asks itself,
 * and nothing runs. */

/** What members are, as far as that decides what they exchange. */
typedef struct pti_dry_run_members {
    int n_local;        /* of each process; all processes have as many */
    bool is_alone;      /* the devices of one process, which is no rank; else processes are ranks */
    bool are_linked;    /* alone, and each device reaches the memory of all others */
    bool checks_access; /* what devices compute comes to the host at once, to be looked at */
    const int64_t *usable_bytes; /* of each member of a process: its device's memory; 0: it works in
                                    the host's. NULL: nothing is known to fit */
    const bool *is_attached;     /* of each array: every process has all of it, the program's */
    const bool *is_everywhere;   /* of each array: nobody lacks any element at first */
} pti_dry_run_members;

/** Launches to go through, and for which members. */
typedef struct pti_dry_run_request {
    pti_dry_run_members members;
    const pti_superstep *all;   /* all launches, as one superstep */
    const pti_instance *arrays; /* of which operand p describes the p-th array */
    int64_t most_launches;      /* of a superstep; 0: as queues choose */
} pti_dry_run_request;

/** All that it points to is owned, but for the request, which is borrowed with what it has. */
typedef struct pti_dry_run {
    const pti_dry_run_request *request;
    int at;          /* the first launch of the next superstep */
    bool is_shallow; /* there was no room for supersteps of several launches */
    bool *is_shared; /* of each array: members of a process have the same memory of it */
    /** [array * n_local + member] of the first process: what the member's array lies over; without
     * dimensions: it has none yet. */
    polytile_domain *box;
    polytile_domain *former_box; /* the same before the superstep that was gone through last */
    pti_copies copies;           /* as the next superstep finds them */
    pti_shared_launch *launch;   /* of the superstep, as members run it */

    /* The superstep that was gone through last. */
    bool runs_once; /* no two members compute what goes to memory that others share */
    pti_superstep superstep;
    pti_superstep_parts parts; /* of all members */
    bool *is_pulled;           /* of each array: what travels before goes from device to device */
} pti_dry_run;

/** Begin before the first launch. False when memory runs out; pti_dry_run_end() is called in any
 * case. */
bool pti_dry_run_begin(const pti_dry_run_request *request, pti_dry_run *run);

/** Return whether there is a launch that was not gone through. */
bool pti_dry_run_goes_on(const pti_dry_run *run);

/** Go through the next superstep. False when memory runs out. */
bool pti_dry_run_next(pti_dry_run *run);

/** What travels when attached arrays leave after all launches; nothing inside one process alone.
 * False when memory runs out. */
bool pti_dry_run_leave(const pti_dry_run *run, pti_exchange *exchange);

void pti_dry_run_end(pti_dry_run *run);

#endif
