#ifndef POLYTILE_ACCESS_FOOTPRINT_MOVED_H
#define POLYTILE_ACCESS_FOOTPRINT_MOVED_H

#include "access/footprint/instance.h"
#include "access/set/shift.h"

/**
 * Find how far what threads touch of each operand is shifted when a box of them is.
 *
 * Shapes  threads: contains the box before and after; shifts: one an operand.
 *
 * Returns true if each footprint of a box inside `threads` is the one before, shifted: all sections
 * of an operand move alike, and no array clips them where they move. Also false for reductions,
 * scratch, pieces, sheared arrays, edges and index arrays, which are not examined.
 */
bool pti_instance_find_shifts(const pti_instance *instance, const polytile_domain *threads,
                              const pti_shift *shift, pti_shift *shifts);

#endif
