#ifndef POLYTILE_ACCESS_ISL_FOOTPRINT_ISL_H
#define POLYTILE_ACCESS_ISL_FOOTPRINT_ISL_H

#include "access/footprint/footprint.h"

/**
 * Find the exact footprint of a box of threads through isl, as disjoint boxes that replace *boxes.
 *
 * Braces count as declared, not as the section around them. Sets that are no box are sliced along
 * their shortest dimension. Takes tenths of a millisecond at least, too long for the planner's
 * loops.
 *
 * *exact says whether the boxes are the footprint. If it takes more than max_boxes, or isl's
 * operation limit is reached, there are no boxes.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_footprint_isl(const polytile_kernel *kernel, const pti_instance *instance,
                                  int operand, pti_touch touch, const polytile_domain *threads,
                                  int max_boxes, pti_boxes *boxes, bool *exact);

#endif
