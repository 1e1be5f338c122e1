#ifndef POLYTILE_ACCESS_ISL_EDGE_RELATION_H
#define POLYTILE_ACCESS_ISL_EDGE_RELATION_H

#include "access/footprint/instance.h"

#include <isl/map.h>

/**
 * Let each element of a relation be the one that the edges of an access make of it: in dimensions
 * with an edge, one of the array's.
 *
 * Space  map: { kernel[index] -> array[element] }, before any array clips it; so is what is
 *        returned, or NULL if isl fails. whole: the array that has the edges.
 */
__isl_give isl_map *pti_apply_edges(__isl_take isl_map *map, const pti_access *access,
                                    const polytile_domain *whole);

#endif
