#ifndef POLYTILE_ACCESS_ISL_FOOTPRINT_ISL_H
#define POLYTILE_ACCESS_ISL_FOOTPRINT_ISL_H

#include "access/footprint/footprint.h"

/**
 * The exact footprint of a box of threads through isl, as disjoint boxes that replace *boxes.
 *
 * What was declared in braces counts as it was declared, not as the section around it. Sets that
 * are no box are sliced along their shortest dimension. Not for the planner's loops: it takes
 * tenths of a millisecond at best.
 *
 * *exact says whether the boxes are the footprint; if not (it takes more than max_boxes, or isl's
 * operation limit is reached) they are empty.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_footprint_isl(const polytile_kernel *kernel, const pti_instance *instance,
                                  int operand, pti_touch touch, const polytile_domain *threads,
                                  int max_boxes, pti_boxes *boxes, bool *exact);

#endif
