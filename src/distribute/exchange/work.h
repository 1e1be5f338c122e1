#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_WORK_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_WORK_H

#include "distribute/share/home.h"

/* What one member does of a superstep: consecutive launches between which nothing travels. If a
 * superstep has several launches, each member runs extra threads, so that later launches find all
 * they read: computing twice saves an exchange a launch. */

/** The launches of a superstep, over all arrays and members. */
typedef struct pti_superstep {
    int n_launches;
    const pti_shared_launch *launch;
    int n_arrays;
    const pti_ownership *ownerships;
    int n_members;
} pti_superstep;

/** Arrays of boxes have one entry a launch or array; all owned. */
typedef struct pti_work {
    int n_launches;
    int n_arrays;
    pti_home *home;     /* of each launch */
    pti_boxes *threads; /* of each launch */
    pti_boxes *reads;   /* of each array: what must be there, in its version before the superstep */
    pti_boxes *writes;  /* of each array: all that the launches write; the box around what they
                           combine across members */
    int64_t n_threads;
    int64_t n_extra_threads; /* more than it runs of supersteps of one launch */
} pti_work;

/** Return whether a member touches any element of an array. */
static inline bool pti_work_touches(const pti_work *work, int array) {
    return work->reads[array].n_boxes > 0 || work->writes[array].n_boxes > 0;
}

/** Gather what several boxes of threads touch of an operand into *touched; whether it is exact. */
bool pti_threads_gather(const pti_instance *instance, int operand, pti_touch touch,
                        const pti_boxes *threads, pti_boxes *touched);

/**
 * What a member does of a superstep.
 *
 * Launch l must write what the member owns and what later launches read here. Boxes may be larger
 * than that, and each launch that is divided is one box. A superstep of one launch runs the
 * member's share exactly.
 *
 * Errors  false: memory ran out; the work is empty then.
 */
bool pti_work_create(const pti_superstep *superstep, int member, pti_work *work);
void pti_work_free(pti_work *work);

/**
 * How many launches from the first on can be one superstep at most.
 *
 * One; or more, if (1) only the last combines across members (`splits`), and combines all it
 * writes, and (2) every other launch that is divided writes only arrays of which each member
 * owns one box. Owners compute all of their elements in it. 0 when memory runs out.
 */
int pti_superstep_longest(const pti_superstep *superstep);

#endif
