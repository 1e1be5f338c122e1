#ifndef POLYTILE_DISTRIBUTE_SHARE_HOME_H
#define POLYTILE_DISTRIBUTE_SHARE_HOME_H

#include "access/footprint/footprint.h"
#include "distribute/share/ownership.h"

/* distribute/share: who owns which elements (ownership.h), and here which threads of a launch a
 * member runs: the owner of what a thread writes runs it. */

/** A launch over whole arrays, as the program made it. */
typedef struct pti_shared_launch {
    pti_call call;  /* its arrays are numbers of ownerships */
    bool runs_once; /* no thread may be run by several members: what they write goes to the same
                         memory, where it would be updated or added up twice, or, by the last of
                         them, overwrite what later launches made of it */
} pti_shared_launch;

/**
 * The operand by whose owners the threads of a launch are divided among members.
 *
 * A thread goes with the first element of the operand's first written section, or read if there is
 * none: its anchor. Where a dimension's subscript is c * i + k of one index with c != 0 alone, the
 * index follows the dimension; also where it names others, too, which add up to less than c,
 * if nothing is combined: all threads of i go with the least element among theirs then. Threads
 * whose anchors lie outside the array go with its nearest element. Indices that follow no dimension
 * are not cut. Where dimensions that the grid cuts are followed by no index, members that differ
 * only there run the same threads, unless splits: then the first of them does.
 */
typedef struct pti_home {
    int operand;                  /* -1: every member runs all threads, unless is_of_slots */
    int section;                  /* of the instance, whose first element is the anchor */
    int index[POLYTILE_MAX_DIMS]; /* of each dimension of the operand: the index that follows it, or
                                     POLYTILE_MAX_DIMS */
    bool splits;   /* each thread is run once; where members reduce into the same elements of some
                      operands, these are combined afterwards: see pti_home_combines() */
    bool is_alone; /* the first member runs all threads; of splits, with nothing to combine */
    bool is_of_slots; /* threads of a team kernel go by the layout of the launch's first index,
                         whatever they write; each is of one member */
    bool widens; /* threads of several members reduce into one element of the operand: its owner
                    runs them all */
    bool failed; /* memory ran out, so another one may be right */
} pti_home;

/** Return whether every member runs all threads. */
static inline bool pti_home_is_everywhere(const pti_home *home) {
    return home->operand < 0 && !home->is_of_slots;
}

/** Who runs which slots of a team kernel: the queue's layout, of the launch's threads. */
pti_ownership pti_home_slots(const pti_shared_launch *launch, const pti_ownership *ownerships);

/**
 * Choose the home of a launch. It is the written operand with the most elements that an index
 * follows in a dimension that its ownership cuts. If all written operands are reduced into, it may
 * be the read operand with the most elements of which that is so. Else there is none. Of a launch
 * that runs once, one member runs each thread that several would: the first of these members, or of
 * all where that would not do.
 *
 * Slots of a team kernel go by their own layout, unless something is combined, or only the hull of
 * what they write is known.
 *
 * An operand cannot be the home if what others than the owner's members reduce into cannot be
 * combined as one box onto its former values, or if elements of which only the hull is known would
 * be written away from their owner.
 */
pti_home pti_home_of(const pti_shared_launch *launch, const pti_ownership *ownerships);

/** Return whether several members run the same threads. */
bool pti_home_repeats(const pti_home *home, const pti_shared_launch *launch,
                      const pti_ownership *ownerships);

/** Return whether what members reduce into an operand is combined across them. If not, owners run
 * all threads of an element, or get what others compute. */
bool pti_home_combines(const pti_home *home, const pti_shared_launch *launch,
                       const pti_ownership *ownerships, int operand);

/** The threads that a member runs, in boxes that replace what was in *threads. Those of all members
 * make up the launch's; if `splits`, each thread is run once. */
void pti_home_threads(const pti_home *home, const pti_shared_launch *launch,
                      const pti_ownership *ownerships, int member, pti_boxes *threads);

/** The threads whose results a member passes on, in boxes that replace what was in *threads: each
 * thread is of one member, which runs it. */
void pti_home_threads_once(const pti_home *home, const pti_shared_launch *launch,
                           const pti_ownership *ownerships, int member, pti_boxes *threads);

/** The threads that write elements of a box of an operand, or more: a box inside the launch's. */
polytile_domain pti_home_writers(const pti_shared_launch *launch, int operand,
                                 const polytile_domain *box);

/** The ownership of an operand's array. */
const pti_ownership *pti_home_owner(const pti_shared_launch *launch,
                                    const pti_ownership *ownerships, int operand);

#endif
