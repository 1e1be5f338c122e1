#include "partition/schedule/tiling.h"

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

/** Cut boxes that go beyond an end of a range along an index in two, which lie within. Returns how
 * many boxes there are. */
static int go_round(polytile_range all, int index, int n, polytile_domain *parts) {
    const int64_t extent = pti_range_count(all);
    const int n_before = n;
    for (int k = 0; k < n_before; k++) {
        polytile_range *range = &parts[k].range[index];
        if (pti_range_count(*range) >= extent)
            *range = all;
        if (range->lo >= all.lo && range->hi <= all.hi)
            continue;
        parts[n] = parts[k];
        const bool is_low = range->lo < all.lo;
        parts[n++].range[index] = is_low ? (polytile_range){range->lo + extent, all.hi, 1}
                                         : (polytile_range){all.lo, range->hi - extent, 1};
        *range = is_low ? (polytile_range){all.lo, range->hi, 1}
                        : (polytile_range){range->lo, all.hi, 1};
    }
    return n;
}

/** Keep of boxes what has some indices of a range. Returns how many are left. */
static int keep_within(polytile_range all, int index, int n, polytile_domain *parts) {
    int n_left = 0;
    for (int k = 0; k < n; k++) {
        polytile_range *range = &parts[k].range[index];
        range->lo = pti_max(range->lo, all.lo);
        range->hi = pti_min(range->hi, all.hi);
        if (range->lo <= range->hi)
            parts[n_left++] = parts[k];
    }
    return n_left;
}

int pti_parts_around(const polytile_domain *box, const pti_margin *margin,
                     const polytile_domain *all, unsigned rounds,
                     polytile_domain parts[PTI_TILING_PARTS]) {
    int n = 1;
    parts[0] = *box;
    for (int d = 0; d < all->n_dims; d++) {
        parts[0].range[d].lo -= margin->before[d];
        parts[0].range[d].hi += margin->after[d];
    }
    for (int d = 0; d < all->n_dims && n > 0; d++)
        n = d < PTI_TILING_ROUNDS && pti_goes_round(rounds, d)
                ? go_round(all->range[d], d, n, parts)
                : keep_within(all->range[d], d, n, parts);
    return n;
}

int pti_tiling_parts(const pti_tiling *tiling, const int64_t *position, int launch,
                     polytile_domain parts[PTI_TILING_PARTS]) {
    const polytile_domain own = pti_tiling_own(tiling, position);
    return pti_parts_around(&own, &tiling->margin[launch], &tiling->call[launch].instance->threads,
                            tiling->rounds, parts);
}

int64_t pti_wrap_offset(int64_t lo, int64_t hi, int64_t extent) {
    const int64_t middle = lo + (hi - lo) / 2;
    return pti_floor_div(middle + extent / 2, extent) * extent;
}

void pti_tiling_free(pti_tiling *tiling) {
    free(tiling->margin);
    free(tiling->is_stored);
    *tiling = (pti_tiling){0};
}
