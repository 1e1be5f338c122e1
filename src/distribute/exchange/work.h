#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_WORK_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_WORK_H

#include "distribute/share/share.h"

/* What one member does of a group: consecutive launches between which members do not hear of each
 * other. Each of several launches is run on more threads than its share, so many that all that
 * later ones of the group read is there: what is computed twice saves an exchange a launch. */

typedef struct pti_group {
    int n_launches;
    const pti_shared_launch *launch;
    int n_arrays;
    const pti_ownership *ownerships;
    int n_members;
} pti_group;

/** Arrays of boxes have one entry a launch or array; all owned. */
typedef struct pti_work {
    int n_launches;
    int n_arrays;
    pti_share *share;   /* of each launch */
    pti_boxes *threads; /* of each launch */
    pti_boxes *reads;   /* of each array: what must be there, in its version before the group */
    pti_boxes *writes;  /* of each array: all that the launches write; the box around what they
                           combine across members */
    int64_t n_threads;
    int64_t n_extra_threads; /* more than it runs of groups of one launch */
} pti_work;

/**
 * What a member does of a group.
 *
 * What launch l must write is what the member owns and what later launches of the group read here;
 * boxes may be taken larger than that, and each launch is one box, as long as its threads are dealt
 * out. A group of one launch runs its share exactly.
 *
 * Errors  false: memory ran out; the work is empty then.
 */
bool pti_work_create(const pti_group *group, int member, pti_work *work);
void pti_work_free(pti_work *work);

/**
 * Of the launches from the first on, how many can be one group at most: one, or so many that none
 * but the last combines across members (`splits`), which that does with all it writes, and that all
 * others whose threads are dealt out
 * write arrays of which members own one box. Owners compute all of their elements in it.
 */
int pti_group_longest(const pti_group *group);

#endif
