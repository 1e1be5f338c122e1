#ifndef POLYTILE_PARTITION_BOUND_LOOKED_UP_H
#define POLYTILE_PARTITION_BOUND_LOOKED_UP_H

#include "access/footprint/footprint.h"

/**
 * Return a lower bound on the number of distinct elements of an operand that a launch looks up to
 * read, or to write: of rows that lie one after the other all, of others those of the first
 * threads, as many as are quickly looked at. Exact if that is all of them; 0 where nothing is
 * looked up.
 *
 * Sets *failed if memory ran out, which only lowers it.
 */
int64_t pti_looked_up_least_count(const pti_instance *instance, int operand, pti_touch touch,
                                  bool *failed);

#endif
