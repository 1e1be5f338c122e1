#ifndef POLYTILE_ACCESS_FOOTPRINT_MOVED_H
#define POLYTILE_ACCESS_FOOTPRINT_MOVED_H

#include "access/footprint/instance.h"
#include "access/set/shift.h"

/**
 * Find how far what threads touch of each operand moves on when a box of them does.
 *
 * Shapes  threads: contains the box before and after; shifts: one an operand.
 *
 * Returns true if each footprint of a box inside `threads` is the one before moved on: all sections
 * of an operand move alike, and no array clips them where they move. False also of launches of
 * which that is not asked: those that reduce or have scratch, pieces, sheared arrays, edges or
 * index arrays.
 */
bool pti_instance_find_shifts(const pti_instance *instance, const polytile_domain *threads,
                              const pti_shift *shift, pti_shift *shifts);

#endif
