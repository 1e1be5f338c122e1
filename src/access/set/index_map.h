#ifndef POLYTILE_ACCESS_SET_INDEX_MAP_H
#define POLYTILE_ACCESS_SET_INDEX_MAP_H

#include "access/set/range.h"

/**
 * An affine map between index spaces: [i] -> [constant[d] + sum over k of coefficient[d][k] *
 * i[k]].
 *
 * Coefficients are not negative.
 */
typedef struct pti_index_map {
    int n_from;
    int n_to;
    int64_t constant[POLYTILE_MAX_DIMS];
    int64_t coefficient[POLYTILE_MAX_DIMS][POLYTILE_MAX_DIMS];
} pti_index_map;

pti_index_map pti_index_map_identity(int n_dims);

bool pti_index_map_equals(const pti_index_map *a, const pti_index_map *b);

/** Return the map that applies `first`, then `second`. */
pti_index_map pti_index_map_compose(const pti_index_map *first, const pti_index_map *second);

#endif
