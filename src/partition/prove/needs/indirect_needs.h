#ifndef POLYTILE_PARTITION_PROVE_NEEDS_INDIRECT_NEEDS_H
#define POLYTILE_PARTITION_PROVE_NEEDS_INDIRECT_NEEDS_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"

/* What threads look up, for the checker alone: it reads the elements of index arrays one by one,
 * thread by thread, where planners ask trees of least and largest values. */

/** Find the box around what some threads touch through an indirect section; empty if that is
 * nothing. array: the domain of the section's array. */
void pti_indirect_needs_hull(const pti_section *section, const polytile_domain *array,
                             const polytile_domain *threads, polytile_domain *hull);

/** Return whether all that some threads touch through an indirect section is in *there; if not,
 * *missing has some of it that is not. Of what they gather only the elements count, not what lies
 * between. */
bool pti_indirect_needs_covered(const pti_section *section, const polytile_domain *array,
                                const polytile_domain *threads, const pti_boxes *there,
                                polytile_domain *missing);

/** Return what a section looks up of which its subscripts are only a band (footprint/slabs.h);
 * NULL: they are all that it has. */
const struct pti_indirection *pti_needs_in_band(const pti_instance *instance,
                                                const pti_section *section);

#endif
