#ifndef POLYTILE_ACCESS_FOOTPRINT_SECTION_BOXES_H
#define POLYTILE_ACCESS_FOOTPRINT_SECTION_BOXES_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/* One section's footprint as a list of boxes. A slice fixes the indices that several dimensions
 * share. In a slice the dimensions are independent, and each is a sum of strided ranges: one range,
 * or a few where there are gaps. */

/** The slicing of one section over a box of threads. */
typedef struct pti_slicing {
    const pti_section *section;
    const polytile_domain *array;
    polytile_domain threads; /* those that touch anything are among them */
    unsigned sliced;         /* bit k: index k is fixed in a slice */
    int64_t n_slices;        /* INT64_MAX if more; 0 where no thread touches anything */
} pti_slicing;

pti_slicing pti_section_slice(const pti_instance *instance, const pti_section *section,
                              const polytile_domain *threads);

/** Add a section's exact footprint to a set if that takes at most max_boxes boxes before overlaps
 * are cut; otherwise leave the set alone and return false. */
bool pti_section_add_exact(const pti_instance *instance, const pti_section *section,
                           const polytile_domain *threads, int64_t max_boxes, pti_boxes *boxes);

/** Add at most max_hulls hulls that contain a section's footprint, each of a part of the
 * threads. */
void pti_section_add_hulls(const pti_instance *instance, const pti_section *section,
                           const polytile_domain *threads, int max_hulls, pti_boxes *boxes);

/** Return the most boxes that pti_section_add_exact() needs for any box inside a box of threads;
 * INT64_MAX if more. */
int64_t pti_section_most_boxes(const pti_instance *instance, const pti_section *section,
                               const polytile_domain *threads);

#endif
