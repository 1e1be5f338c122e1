#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_INTERIOR_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_INTERIOR_H

#include "distribute/exchange/superstep.h"

/* The interior of what a member runs: threads that use nothing that arrives. */

/** Find the threads of each member of a process that can run before anything arrives: those of a
 * superstep of one launch, if they are enough to be worth it; else no dimensions, or none. Slots of
 * a team kernel run all at once, so that none run before. The parts are of the process's members,
 * and perhaps of others. is_shared, of each array: these have the same memory of it, where any of
 * them may use what another one receives. */
void pti_interiors_find(const pti_superstep *superstep, const pti_superstep_parts *parts,
                        const bool *is_shared, int first, int n_local, polytile_domain *inner);

#endif
