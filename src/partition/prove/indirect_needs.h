#ifndef POLYTILE_PARTITION_PROVE_INDIRECT_NEEDS_H
#define POLYTILE_PARTITION_PROVE_INDIRECT_NEEDS_H

#include "access/footprint/instance.h"

/* What threads look up, for the checker alone: it reads the elements of index arrays one by one, thread
 * by thread, where planners ask trees of least and largest values. */

/** Find the box around what some threads touch through an indirect section; empty if that is nothing.
 * array: the domain of the section's array. */
void pti_indirect_needs_hull(const pti_section *section, const polytile_domain *array,
                             const polytile_domain *threads, polytile_domain *hull);

#endif
