#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_DEPTH_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_DEPTH_H

#include "distribute/exchange/work.h"

/* How many launches become one superstep. */

/** The part of all threads that may be run twice: on most machines that costs less than an exchange
 * for each launch. */
#define PTI_DEPTH_FRACTION 0.02

/**
 * How many launches from the first on become one superstep: the more, the fewer exchanges, but the
 * more threads at borders are run by several members.
 *
 * The longest prefix, of at most `most` launches, of which the busiest member runs no more than a
 * fraction of its threads beside its share. It is found by doubling and bisection, which misses a
 * prefix if a shorter one that is tried exceeds the fraction. The time grows with the launches of
 * the answer, not with those given. 0 when memory runs out.
 */
int pti_superstep_depth(const pti_superstep *superstep, double fraction, int most);

/** The member with the most to do and, if possible, neighbours on all sides: in each dimension of
 * the first operand by which threads are divided, the coordinate that owns most, of several the
 * one in the middle. -1 when memory runs out. */
int pti_superstep_busiest(const pti_superstep *superstep);

#endif
