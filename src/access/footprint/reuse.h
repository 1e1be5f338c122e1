#ifndef POLYTILE_ACCESS_FOOTPRINT_REUSE_H
#define POLYTILE_ACCESS_FOOTPRINT_REUSE_H

#include "access/footprint/footprint.h"

/* What neighbouring threads have in common. */

/** The most boxes of elements that one thread may touch of an operand, to be reckoned with here. */
enum { PTI_MAX_REUSE_BOXES = 64 };

/**
 * Return how many elements n_neighbours along an index read and write together, as a part of
 * what they do one by one: 1 if they share nothing.
 *
 * The neighbours are those in the middle of the launch domain, and the first of them stands for all
 * that do it one by one. 1 also where this is not known exactly, where a thread reads more than
 * PTI_MAX_REUSE_BOXES elements, since it then goes through them in loops of its own, and where the
 * domain has fewer neighbours.
 */
double pti_neighbours_touch(const pti_instance *instance, int index, int64_t n_neighbours);

#endif
