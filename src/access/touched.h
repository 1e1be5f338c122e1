#ifndef POLYTILE_ACCESS_TOUCHED_H
#define POLYTILE_ACCESS_TOUCHED_H

#include "access/footprint/footprint.h"
#include "access/footprint/looked_up.h"

/**
 * Visit the elements of an operand that a box of threads touches in a way, and no others: inexact
 * footprints thread by thread, what is looked up element by element, relations in braces by isl.
 *
 * Boxes may overlap. In the worst case this takes as long as the threads themselves. If isl gives
 * up on a relation, its section is visited, and *is_exact is false.
 * Shapes  kernel: the instance's; threads: as for footprints. Boxes are clipped to the array.
 * Errors  NO_MEMORY.
 */
polytile_status pti_touched_each(const polytile_kernel *kernel, const pti_instance *instance,
                                 int operand, pti_touch touch, const polytile_domain *threads,
                                 pti_box_function *visit, void *user, bool *is_exact);

#endif
