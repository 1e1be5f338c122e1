#include "partition/prove/tile_parts.h"

#include "access/footprint/call.h"
#include "partition/prove/shape/shape.h"

#include <inttypes.h>

static bool reject_parts(pti_text *why, const pti_tiles *tiles, const char *reason) {
    return PTI_REJECT(why, "operations %" PRId64 " to %" PRId64 ", which run as two: %s",
                      tiles->first_op, tiles->first_op + tiles->n_ops - 1, reason);
}

bool pti_tile_part_stores(const pti_tiles *tiles, int part, int array) {
    return part + 1 < pti_tiles_n_parts(tiles) ? pti_tiles_find_aside(tiles, array) != NULL
                                               : pti_tiles_store(tiles, array);
}

static const pti_call *call_in_tiles(const pti_schedule *schedule, const pti_tiles *tiles,
                                     int launch) {
    return &schedule->launch[tiles->first_launch + launch].call;
}

/** Return whether one of some launches of tiles writes an array. */
static bool is_written(const pti_schedule *schedule, const pti_tiles *tiles, int first, int end,
                       int array) {
    bool is = false;
    for (int l = first; l < end; l++)
        is = is || pti_call_writes(call_in_tiles(schedule, tiles, l), array);
    return is;
}

static bool check_launches(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    const pti_call *first = call_in_tiles(schedule, tiles, 0);
    bool holds = true;
    for (int l = 0; l < tiles->n_launches && holds; l++) {
        const pti_call *call = call_in_tiles(schedule, tiles, l);
        holds = call->instance->n_operands == first->instance->n_operands;
        for (int o = 0; o < call->instance->n_operands && holds; o++)
            holds = pti_call_has_array(first, call->array[o]) &&
                    pti_call_has_array(call, first->array[o]);
    }
    return holds || reject_parts(why, tiles, "the launches have other arrays");
}

static bool check_parts_write(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    const int middle = tiles->n_launches / 2;
    bool holds = true;
    for (int a = 0; a < schedule->instance->n_operands && holds; a++)
        holds = (!pti_tile_part_stores(tiles, 0, a) || is_written(schedule, tiles, 0, middle, a)) &&
                (!pti_tile_part_stores(tiles, 1, a) ||
                 is_written(schedule, tiles, middle, tiles->n_launches, a));
    return holds || reject_parts(why, tiles, "a part stores an array that it does not write");
}

static bool check_loaded(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    const pti_call *call = call_in_tiles(schedule, tiles, tiles->n_launches / 2);
    bool holds = true;
    for (int o = 0; o < call->instance->n_operands && holds; o++)
        holds = !call->instance->operand[o].reads ||
                pti_tiles_find_aside(tiles, call->array[o]) != NULL ||
                !is_written(schedule, tiles, 0, tiles->n_launches, call->array[o]);
    return holds || reject_parts(why, tiles, "the second part loads what the first did not store");
}

/** Return the memory aside of an array as if the array were placed there; none of an array that has
 * no place. */
static pti_placement placement_aside(const pti_schedule *schedule, const pti_tiles *tiles,
                                     int number) {
    const pti_tile_aside *aside = &tiles->aside[number];
    const pti_placement *of = pti_tiles_placement(schedule, tiles, aside->array);
    pti_placement made = of == NULL ? (pti_placement){.operand = aside->array} : *of;
    made.offset_bytes = aside->offset_bytes;
    return made;
}

static bool is_apart(const pti_schedule *schedule, const pti_tiles *tiles, int number) {
    const pti_placement aside = placement_aside(schedule, tiles, number);
    bool is = aside.layout.size_bytes > 0 &&
              aside.offset_bytes <= schedule->arena_bytes - aside.layout.size_bytes;
    for (int64_t p = 0; p < schedule->n_placements && is; p++)
        is = !pti_placements_overlap(&aside, &schedule->placement[p]);
    for (int k = 0; k < number && is; k++) {
        const pti_placement other = placement_aside(schedule, tiles, k);
        is = !pti_placements_overlap(&aside, &other);
    }
    return is;
}

static bool check_memory(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    bool holds = true;
    for (int k = 0; k < tiles->n_aside && holds && pti_tiles_are_placed(tiles); k++)
        holds = is_apart(schedule, tiles, k);
    return holds || reject_parts(why, tiles, "what is stored aside lies where something else is");
}

bool pti_check_tile_parts(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    return pti_tiles_n_parts(tiles) == 1 ||
           (check_launches(schedule, tiles, why) && check_parts_write(schedule, tiles, why) &&
            check_loaded(schedule, tiles, why) && check_memory(schedule, tiles, why));
}
