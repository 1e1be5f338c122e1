#ifndef POLYTILE_ACCESS_FOOTPRINT_EDGES_H
#define POLYTILE_ACCESS_FOOTPRINT_EDGES_H

#include "access/footprint/instance.h"
#include "base/context.h"

/**
 * Add the sections of an access to an instance: the plain one, or where subscripts have edges, all
 * that together have its elements.
 *
 * An access that wraps has the plain section, and copies of it that are moved by multiples of the
 * array's extent; the array clips them, so that each element is in one of them. An access that
 * clamps has the plain section and, where threads go beyond an end, the interval from there to the
 * array's outermost element, of which clipping leaves that element. So all closed forms hold for
 * edges, too. Where an access would have too
 * many sections, it has one that is not exact, with whole dimensions.
 *
 * plain: the access's subscripts without their edges, settled.
 * Errors  UNSUPPORTED (an edge of a view with steps), OVERFLOW, NO_MEMORY.
 */
polytile_status pti_edges_add_sections(polytile_context *ctx, pti_instance *instance,
                                       const pti_access *access, const pti_section *plain);

/** Return whether an index with an edge, of some thread of a box, is beyond the ends of its
 * array. */
bool pti_instance_reaches_edges(const pti_instance *instance, const polytile_domain *threads);

/**
 * Return threads of a box of which no index with an edge is beyond the ends of its array: all of
 * them, those aside that touch nothing, if each subscript with an edge names one index at most and
 * has no step; otherwise as many as a box has without looking at several indices together. Empty if
 * there are none.
 */
polytile_domain pti_instance_within_edges(const pti_instance *instance,
                                          const polytile_domain *threads);

#endif
