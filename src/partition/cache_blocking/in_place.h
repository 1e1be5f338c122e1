#ifndef POLYTILE_PARTITION_CACHE_BLOCKING_IN_PLACE_H
#define POLYTILE_PARTITION_CACHE_BLOCKING_IN_PLACE_H

#include "partition/skew/skew.h"

/* partition/cache_blocking: chains over arrays that do not move, interleaved so that slabs, or
 * columns of them, stay in a cache. This header has those in place on the host, resident.h those
 * whose arrays lie in a device's memory. */

/**
 * Choose a shape for a chain in place: arena_bytes of the request are those of the caches, in which
 * the bands of a slab stay.
 *
 * False if the arrays are in the caches anyway, or the bands of two launches are too large for
 * them.
 */
bool pti_blocking_choose_in_place(const pti_skew_request *request, pti_skew_shape *shape,
                                  pti_text *why);

/**
 * The same with columns (schedule/columns.h), along the indices of a second chain of the same
 * launches: the rows of a tile stay in the caches of one core.
 *
 * False if they do not pay; `why` gets the reason, or nothing if caches hold all arrays.
 */
bool pti_blocking_choose_columns(const pti_skew_request *request, const pti_chain *across,
                                 pti_skew_shape *shape, pti_text *why);

/** Choose columns along the slabs' own index: launches stay whole, and all of them run on a column.
 */
bool pti_blocking_choose_columns_alone(const pti_skew_request *request, pti_skew_shape *shape,
                                       pti_text *why);

/** Build its schedule: the order of the slabs without moves. NULL when memory runs out. */
pti_schedule *pti_blocking_build_in_place(const pti_chain *chain, const pti_skew_shape *shape);

/** Add a shape's columns to its schedule in place. False when memory runs out. */
bool pti_blocking_add_columns(const pti_chain *across, const pti_skew_shape *shape,
                              pti_schedule *schedule);

#endif
