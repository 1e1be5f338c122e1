#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_DEPTH_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_DEPTH_H

#include "distribute/exchange/work.h"

/** What may be computed twice, as a fraction of what is computed: an exchange a launch costs more
 * than that on most machines. */
#define PTI_DEPTH_FRACTION 0.02

/**
 * How many launches from the first on are made one group: the more there are, the fewer exchanges,
 * but the more threads at borders are run by several members.
 *
 * The longest prefix, of at most `most` launches, of which the busiest member runs no more than a
 * fraction of its threads beside its share; found by doubling and bisection, so that a prefix is
 * missed if a shorter one that is tried exceeds the fraction. Takes time proportional to the
 * launches of the answer, not of the group. At least 1, also when memory runs out.
 */
int pti_group_depth(const pti_group *group, double fraction, int most);

/** The member with the most to do and neighbours on all sides, as far as there is one: in each
 * dimension of the first operand by which threads are dealt out, the coordinate that owns most, of
 * several that in the middle. */
int pti_group_busiest(const pti_group *group);

#endif
