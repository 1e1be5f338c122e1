#ifndef POLYTILE_PARTITION_CHECK_NEEDS_H
#define POLYTILE_PARTITION_CHECK_NEEDS_H

#include "access/boxes.h"
#include "access/instance.h"

/* What a box of threads touches through one section, worked out for the checker alone, in another
 * way than the planner's footprints: pieces of the section are halved until each is exactly a box.
 * Threads are a non-empty box inside the launch domain. */

/** A box around the elements that the threads touch; empty if they touch nothing. */
polytile_domain pti_needs_hull(const pti_instance *instance, const pti_section *section,
                               const polytile_domain *threads);

/** The same; true if the box holds nothing else. */
bool pti_needs_is_box(const pti_instance *instance, const pti_section *section,
                      const polytile_domain *threads, polytile_domain *hull);

/** Whether all elements that the threads touch are in *there; if not, *missing has one that is not.
 */
bool pti_needs_covered(const pti_instance *instance, const pti_section *section,
                       const polytile_domain *threads, const pti_boxes *there,
                       polytile_domain *missing);

/** elements := elements united with exactly what the threads touch. */
void pti_needs_add(const pti_instance *instance, const pti_section *section,
                   const polytile_domain *threads, pti_boxes *elements);

/** The same boxes behind those of a list, in which some may overlap. */
void pti_needs_list(const pti_instance *instance, const pti_section *section,
                    const polytile_domain *threads, pti_boxes *list);

#endif
