#ifndef POLYTILE_ACCESS_FOOTPRINT_SLABS_H
#define POLYTILE_ACCESS_FOOTPRINT_SLABS_H

#include "access/footprint/instance.h"
#include "base/context.h"

/**
 * Find out whether an instance's partial operands are known for slabs, boxes of threads that are
 * whole along all indices but one: all butterflies of a stage write whole columns, while some of
 * them may write more boxes than PTI_MAX_WRITE_BOXES. If so, give it instance.slabs, for chains.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_instance_add_slabs(polytile_context *ctx, pti_instance *instance);

/**
 * Find out whether all that a launch looks up lies in bands beside its threads, from index + lo to
 * index + hi along some index, as on a mesh whose cells are numbered well. If so, and if it has no
 * slabs yet, give it instance.slabs, whose sections are such intervals: no less than what threads
 * read. Bands wider than an eighth of the threads are none.
 *
 * Index arrays are asked for the least and the most of a few hundred parts, and of a few thousand
 * if these show a band.
 * Errors  NO_MEMORY.
 */
polytile_status pti_instance_add_bands(polytile_context *ctx, pti_instance *instance);

/** Return the instance that holds for slabs along an index. */
const pti_instance *pti_instance_for_slabs(const pti_instance *instance, int index);

#endif
