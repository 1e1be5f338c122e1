#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_EXCHANGE_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_EXCHANGE_H

#include "distribute/exchange/work.h"

/* distribute/exchange: what members have, and what travels between them. Each member finds it from
 * the launches alone, and asks nobody. work.h says what a member computes between exchanges. */

/** What each member has in its newest version beside what it owns; some of that may be listed,
 * too. */
typedef struct pti_copies {
    int n_arrays;
    int n_members;
    pti_boxes *extra; /* [array * n_members + member]; owned */
} pti_copies;

bool pti_copies_create(int n_arrays, int n_members, pti_copies *copies);
void pti_copies_free(pti_copies *copies);

/** Replace copies of as many arrays and members; false when memory runs out. */
bool pti_copies_assign(pti_copies *to, const pti_copies *from);

/** Return whether both are of as many arrays and consist of the same boxes. */
bool pti_copies_are_alike(const pti_copies *one, const pti_copies *other);

/** Let every member have all of an array, whose indices are these; false when memory runs out. */
bool pti_copies_give_all(const pti_copies *copies, int array, const polytile_domain *all);

/** Those of one array that one member has. */
pti_boxes *pti_copies_get(const pti_copies *copies, int array, int member);

/** Boxes of one array from one member to another; boxes are disjoint. Both members list the same
 * ones in the same order: one packs by its list, the other one unpacks by its own. */
typedef struct pti_transfer {
    int array;
    int from;
    int to;
    pti_boxes boxes;
    int64_t n_elements;
} pti_transfer;

/** Ordered by array, from, to; one transfer of each three. */
typedef struct pti_exchange {
    int n_transfers;
    pti_transfer *transfer; /* owned */
} pti_exchange;

/**
 * What has to travel before a superstep: of each array what a member reads, minus what it owns and
 * minus its copies, from the owners. The copies grow by it.
 *
 * first, n_local: only transfers from or to the members first .. first + n_local - 1 are listed;
 *        copies are noted of all.
 * Errors  false: memory ran out.
 */
bool pti_exchange_before(const pti_superstep *superstep, pti_copies *copies, int first, int n_local,
                         pti_exchange *exchange);

/**
 * What has to travel after it: elements that a member wrote and their owner did not. Copies of what
 * was written are out of date, except at members that certainly wrote its last version. What
 * launches combine across members is left out: it is in its newest version everywhere.
 */
bool pti_exchange_after(const pti_superstep *superstep, pti_copies *copies, int first, int n_local,
                        pti_exchange *exchange);

void pti_exchange_free(pti_exchange *exchange);

/* leave.c */

/** Whose transfers are listed. */
typedef struct pti_processes {
    int first;    /* from or to the members first .. first + n_listed - 1 */
    int n_listed; /* of whole processes */
    int n_local;  /* members of each process */
} pti_processes;

/**
 * What has to travel when arrays leave of which every process has memory for all: all that its
 * memory lacks, from the owners.
 *
 * all: a superstep for its arrays and members; leaves: of each array, whether it does.
 * Errors  false: memory ran out.
 */
bool pti_exchange_at_end(const pti_superstep *all, const bool *leaves, const pti_copies *copies,
                         const pti_processes *processes, pti_exchange *exchange);

#endif
