#include "partition/window/tiles_aside.h"

#include "access/set/box.h"
#include "base/checked.h"
#include "partition/memory/residency.h"
#include "partition/ping_pong/ping_pong.h"

#include <polytile/size.h>
#include <stdlib.h>

/** Bytes of the arena, from one on to another one. */
typedef struct span {
    int64_t from, to;
} span;

static int compare_spans(const void *one, const void *other) {
    const int64_t a = ((const span *)one)->from, b = ((const span *)other)->from;
    return (a > b) - (a < b);
}

/** Return the first gap of at least `bytes` bytes between used spans, or after them; the longest
 * gap if there is none. */
static span find_first_gap(const span *used, int64_t n_used, int64_t arena_bytes, int64_t bytes) {
    span longest = {0, 0};
    int64_t end = 0;
    for (int64_t k = 0; k <= n_used && longest.to - longest.from < bytes; k++) {
        const span gap = {end, k < n_used ? used[k].from : arena_bytes};
        if (gap.to - gap.from > longest.to - longest.from)
            longest = gap;
        if (k < n_used)
            end = pti_max(end, pti_resident_padded(used[k].to));
    }
    return longest;
}

/** Find such a gap between the placements of a schedule. False when memory runs out. */
static bool find_gap_of_schedule(const pti_schedule *schedule, int64_t bytes, span *gap) {
    span *used = malloc(((size_t)schedule->n_placements + 1) * sizeof *used);
    for (int64_t p = 0; p < schedule->n_placements && used != NULL; p++) {
        const pti_placement *placement = &schedule->placement[p];
        used[p] =
            (span){placement->offset_bytes, placement->offset_bytes + placement->layout.size_bytes};
    }
    if (used == NULL)
        return false;
    qsort(used, (size_t)schedule->n_placements, sizeof *used, compare_spans);
    *gap = find_first_gap(used, schedule->n_placements, schedule->arena_bytes, bytes);
    free(used);
    return true;
}

/** Return the bytes of an array where launches of tiles find it. */
static int64_t placed_bytes(const pti_schedule *schedule, const pti_tiles *tiles, int array) {
    const pti_placement *placement = pti_tiles_placement(schedule, tiles, array);
    return placement == NULL ? 0 : pti_resident_padded(placement->layout.size_bytes);
}

static int64_t count_aside_bytes(const pti_schedule *schedule, const pti_tiles *tiles) {
    int64_t bytes = 0;
    for (int k = 0; k < tiles->n_aside; k++)
        bytes += placed_bytes(schedule, tiles, tiles->aside[k].array);
    return bytes;
}

/** Place what tiles store aside from an offset on; negative: nowhere. */
static void place_tiles(const pti_schedule *schedule, pti_tiles *tiles, int64_t offset_bytes) {
    for (int k = 0; k < tiles->n_aside; k++) {
        tiles->aside[k].offset_bytes = offset_bytes;
        if (offset_bytes >= 0)
            offset_bytes += placed_bytes(schedule, tiles, tiles->aside[k].array);
    }
}

static void describe_missing(int64_t bytes, const span *gap, pti_text *why) {
    char needed[32], had[32];
    pti_text_add(why,
                 "%sthese run one by one for now: tiles would store %s aside, of which the "
                 "device has %s free",
                 why->length > 0 ? "; " : "", polytile_size_format(bytes, needed),
                 polytile_size_format(gap->to - gap->from, had));
}

polytile_status pti_tiles_place_aside(pti_schedule *schedule, pti_text *why) {
    int64_t bytes = 0;
    span gap;
    for (int t = 0; t < schedule->n_tiles; t++)
        bytes = pti_max(bytes, count_aside_bytes(schedule, &schedule->tiles[t]));
    if (bytes == 0)
        return POLYTILE_OK;
    if (!find_gap_of_schedule(schedule, bytes, &gap))
        return POLYTILE_NO_MEMORY;
    const bool is_placed = gap.to - gap.from >= bytes;
    for (int t = 0; t < schedule->n_tiles; t++)
        place_tiles(schedule, &schedule->tiles[t], is_placed ? gap.from : -1);
    if (!is_placed)
        describe_missing(bytes, &gap, why);
    return POLYTILE_OK;
}

int64_t pti_tiles_aside_bytes(const pti_call *call, const pti_call *before) {
    pti_role_change change;
    int array[PTI_PING_PONG_MOST_ARRAYS];
    int64_t bytes = 0;
    if (!pti_role_change_may_begin(call->instance) ||
        !pti_role_change_find(call, before, &change) || change.n_alive == 1 ||
        change.n_alive > PTI_TILE_MOST_STORED)
        return 0;
    pti_role_change_list_alive(&change, call, array);
    for (int k = 0; k < change.n_alive; k++)
        for (int o = 0; o < call->instance->n_operands; o++)
            if (call->array[o] == array[k])
                bytes += pti_resident_padded(pti_box_count(&call->instance->operand[o].domain) *
                                             call->instance->operand[o].element_bytes);
    return bytes;
}
