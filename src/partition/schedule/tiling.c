#include "partition/schedule/tiling.h"

#include "access/set/box.h"
#include "base/checked.h"

#include <stdlib.h>

bool pti_tiles_are_placed(const pti_tiles *tiles) {
    bool are = true;
    for (int k = 0; k < tiles->n_aside; k++)
        are = are && tiles->aside[k].offset_bytes >= 0;
    return are;
}

bool pti_tiles_store(const pti_tiles *tiles, int array) {
    bool do_store = false;
    for (int k = 0; k < tiles->n_stored; k++)
        do_store = do_store || tiles->stored[k] == array;
    return do_store;
}

const pti_tile_aside *pti_tiles_find_aside(const pti_tiles *tiles, int array) {
    for (int k = 0; k < tiles->n_aside; k++)
        if (tiles->aside[k].array == array)
            return &tiles->aside[k];
    return NULL;
}

int64_t pti_tiling_count(const pti_tiling *tiling, int dim) {
    return pti_ceil_div(pti_range_count(tiling->threads.range[dim]), tiling->tile[dim]);
}

polytile_domain pti_tiling_own(const pti_tiling *tiling, const int64_t *position) {
    polytile_domain own = tiling->threads;
    for (int d = 0; d < own.n_dims; d++) {
        polytile_range *range = &own.range[d];
        range->lo += position[d] * tiling->tile[d];
        range->hi = pti_min(range->hi, range->lo + tiling->tile[d] - 1);
    }
    return own;
}

polytile_domain pti_tiling_part(const pti_tiling *tiling, const int64_t *position, int launch) {
    const polytile_domain *all = &tiling->call[launch].instance->threads;
    const pti_margin *margin = &tiling->margin[launch];
    polytile_domain part = pti_tiling_own(tiling, position), within;
    for (int d = 0; d < part.n_dims; d++) {
        part.range[d].lo -= margin->before[d];
        part.range[d].hi += margin->after[d];
    }
    return pti_box_intersect(&part, all, &within) ? within : pti_box_empty(part.n_dims);
}

void pti_tiling_free(pti_tiling *tiling) {
    free(tiling->margin);
    free(tiling->is_stored);
    *tiling = (pti_tiling){0};
}
