#ifndef POLYTILE_ACCESS_FOOTPRINT_PIECES_H
#define POLYTILE_ACCESS_FOOTPRINT_PIECES_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/* One section's footprint as an enumeration of boxes. Indices that several array dimensions share
 * are fixed, one value at a time (a slice); in a slice the dimensions are independent, and each is
 * a sum of strided ranges: one range, or a few where there are gaps. */

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

/**
 * Add a section's footprint to a set, exactly, if that takes at most max_boxes boxes before those
 * that overlap are cut; otherwise leave the set alone and return false.
 */
bool pti_section_add_exact(const pti_instance *instance, const pti_section *section,
                           const polytile_domain *threads, int64_t max_boxes, pti_boxes *boxes);

/** Add at most max_groups hulls that contain a section's footprint: each of a part of the threads.
 */
void pti_section_add_groups(const pti_instance *instance, const pti_section *section,
                            const polytile_domain *threads, int max_groups, pti_boxes *boxes);

/** The most boxes that pti_section_add_exact() needs for any box of the launch domain; INT64_MAX if
 * more. */
int64_t pti_section_most_boxes(const pti_instance *instance, const pti_section *section);

#endif
