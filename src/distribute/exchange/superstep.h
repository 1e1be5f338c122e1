#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_SUPERSTEP_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_SUPERSTEP_H

#include "distribute/exchange/exchange.h"
#include "queue/queue.h"

/* How launches become supersteps: which launches are the next one, what members compute in it, and
 * what travels before and after it. A group runs what is found here; members_plan.h
 * describes it. */

/** The most launches that a queue over members records before it runs them; and the most of one
 * superstep: each is cut for its own threads, and those of two supersteps are kept. Fewer are the
 * most where members send messages: of what travels, which grows with them, only as much is hidden
 * as takes no longer than the first launch. */
enum {
    PTI_GROUP_LAUNCHES = 1024,
    PTI_SUPERSTEP_LAUNCHES = PTI_MAX_PREPARED / 4,
    PTI_SENDING_SUPERSTEP_LAUNCHES = PTI_SUPERSTEP_LAUNCHES / 2
};

/** What bounds supersteps beside what is computed twice. */
typedef struct pti_superstep_limits {
    int64_t most_launches; /* the program's limit; 0: any number */
    bool runs_once;        /* no two members may compute the same: one launch a superstep */
    bool sends;            /* members are not all of one process */
    bool keeps;            /* nothing is to leave members' devices unasked: a launch whose results
                              are combined, in memory that comes with it, is alone in a superstep */
} pti_superstep_limits;

/** Return whether one of the next launches needs memory beside its arrays: no two members compute
 * the same then. Those after PTI_SUPERSTEP_LAUNCHES do not count. */
bool pti_superstep_has_scratch(const pti_superstep *known);

/** Return whether a launch writes an array of which members of a process have the same memory. */
bool pti_superstep_shares_results(const pti_call *call, const bool *is_shared);

/** The first superstep of launches that are known, of which more than PTI_SUPERSTEP_LAUNCHES change
 * nothing; of no launch when memory runs out. */
pti_superstep pti_superstep_next(const pti_superstep *known, const pti_superstep_limits *limits);

/** A superstep cut for the members first .. first + n_local - 1. */
typedef struct pti_superstep_parts {
    int first;
    int n_local;
    pti_work *work; /* of each of them; owned, as all below */
    pti_exchange before;
    pti_exchange after;
} pti_superstep_parts;

/**
 * Cut a superstep for the members. The copies, of all members, become those after it.
 * Exchanges are listed as far as they are from or to these members.
 *
 * Errors  false: memory ran out.
 * Owns    The caller frees *parts with pti_superstep_parts_free(), also after an error.
 */
bool pti_superstep_cut(const pti_superstep *superstep, int first, int n_local, pti_copies *copies,
                       pti_superstep_parts *parts);
void pti_superstep_parts_free(pti_superstep_parts *parts);

#endif
