#ifndef POLYTILE_ACCESS_FOOTPRINT_GATHERED_H
#define POLYTILE_ACCESS_FOOTPRINT_GATHERED_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/**
 * Add boxes that contain what threads gather through a section, without the largest gaps between
 * its elements, to a set.
 *
 * The elements of the index array are read one by one where that moves less: a few first, and all
 * of them only if the gaps between those are worth it.
 *
 * Shapes  hull: of the section for these threads, not empty. At most max_boxes boxes.
 * Returns false, with the set as it was, where the hull is as good: the section gathers in no
 * dimension or in several, its index array has several dimensions, or the gaps are small.
 */
bool pti_section_add_gathered(const pti_instance *instance, const pti_section *section,
                              const polytile_domain *threads, const polytile_domain *hull,
                              int64_t max_boxes, pti_boxes *boxes);

#endif
