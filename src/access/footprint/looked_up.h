#ifndef POLYTILE_ACCESS_FOOTPRINT_LOOKED_UP_H
#define POLYTILE_ACCESS_FOOTPRINT_LOOKED_UP_H

#include "access/footprint/indirection.h"

/* The elements that threads touch of a section, visited box by box. */

/** Visits a box of elements. */
typedef void pti_box_function(const polytile_domain *box, void *user);

/**
 * Visit what one thread has of a section: a box, or of what it gathers a box for each element that
 * it looks up, in the order of those.
 *
 * Shapes  thread: a box of one. Boxes are inside the array, may overlap, and are not empty.
 */
void pti_section_each_of_thread(const pti_instance *instance, const pti_section *section,
                                const polytile_domain *thread, pti_box_function *visit, void *user);

/** Store what n elements of an end's vector hold, step apart from the first one on, plus what the
 * end adds for all threads. */
void pti_looked_up_load(const pti_looked_up *end, int64_t first, int64_t step, int n,
                        int64_t *indices);

/** Let an end look up a vector, from 0 on, of the elements of a box of its index array in C order.
 * False, and the end as it was: they do not lie one after the other. */
bool pti_looked_up_flatten(const polytile_domain *box, pti_index_array *vector, pti_looked_up *end);

#endif
