#include "partition/prove/tiles.h"

#include "access/footprint/footprint.h"
#include "access/set/boxes.h"
#include "base/checked.h"
#include "partition/prove/shape/shape.h"
#include "partition/prove/slab_tiles.h"
#include "partition/prove/tile_parts.h"
#include "partition/prove/tiling_check.h"

#include <inttypes.h>
#include <stdlib.h>

static bool reject_tiles(pti_text *why, const pti_tiles *tiles, const char *reason) {
    return PTI_REJECT(why, "operations %" PRId64 " to %" PRId64 ", which run as one: %s",
                      tiles->first_op, tiles->first_op + tiles->n_ops - 1, reason);
}

/** Lengths stay below, as indices do, so that sums of a few do not overflow. */
#define LIMIT (INT64_C(1) << 61)

static const polytile_domain *threads_of(const pti_schedule *schedule, const pti_tiles *tiles,
                                         int launch) {
    return &schedule->launch[tiles->first_launch + launch].call.instance->threads;
}

/** Return whether tiles, and margins, are no longer than arrays may be. */
static bool has_lengths(const pti_tiles *tiles) {
    const int64_t most = LIMIT / tiles->n_launches;
    bool has = true;
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        has = has && tiles->tile[d] <= LIMIT && tiles->margin_per_launch.before[d] >= 0 &&
              tiles->margin_per_launch.before[d] <= most &&
              tiles->margin_per_launch.after[d] >= 0 && tiles->margin_per_launch.after[d] <= most;
    return has;
}

/** All launches have as many indices, and what is stored are threads of the last one, or none. */
static bool check_lengths(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    const polytile_domain *last = threads_of(schedule, tiles, tiles->n_launches - 1);
    const int n_sides = tiles->is_of_slab ? pti_tiles_n_sides(tiles) : 1;
    bool holds = true;
    for (int l = 0; l < tiles->n_launches && holds; l++)
        holds = threads_of(schedule, tiles, l)->n_dims == last->n_dims;
    for (int side = 0; side < n_sides && holds; side++) {
        const polytile_domain *own = pti_tiles_own(tiles, side);
        holds = own->n_dims == last->n_dims &&
                ((tiles->is_of_slab && pti_box_is_empty(own)) || pti_check_box_inside(own, last));
    }
    return (holds && has_lengths(tiles)) ||
           reject_tiles(why, tiles, "tiles are of threads that there are not");
}

/** The operations are there, and after those of the tiles before. */
static bool check_numbers(const pti_schedule *schedule, int number, pti_text *why) {
    const pti_tiles *tiles = &schedule->tiles[number], *before = tiles - 1;
    const int64_t free_from = number == 0 ? 0 : before->first_op + before->n_ops;
    if (schedule->in_place || tiles->n_launches < 1 || tiles->first_op < free_from ||
        tiles->n_ops < 1 || tiles->n_ops > schedule->n_ops - tiles->first_op)
        return PTI_REJECT(why,
                          "%" PRId64 " operations from %" PRId64
                          " on, which run as one: there are no such operations",
                          tiles->n_ops, tiles->first_op);
    return (tiles->first_launch >= 0 && tiles->first_launch < schedule->n_launches &&
            tiles->n_launches <= schedule->n_launches - tiles->first_launch) ||
           reject_tiles(why, tiles, "there are not as many launches");
}

/** Return whether launches store one array, or several and have memory aside: those of a slab for
 * each of them, others for two parts of as many launches. */
static bool suits_aside(const pti_tiles *tiles) {
    if (tiles->n_aside == 0)
        return tiles->n_stored == 1;
    return tiles->is_of_slab ? !tiles->is_of_ring && tiles->n_aside == tiles->n_stored
                             : tiles->n_launches % 2 == 0;
}

/** What is stored are arrays. */
static bool check_stored(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    const int n_arrays = schedule->instance->n_operands;
    bool holds = tiles->n_stored >= 1 && tiles->n_stored <= PTI_TILE_MOST_STORED &&
                 tiles->n_aside >= 0 && tiles->n_aside <= PTI_TILE_MOST_STORED &&
                 suits_aside(tiles);
    for (int k = 0; holds && k < tiles->n_stored; k++)
        holds = tiles->stored[k] >= 0 && tiles->stored[k] < n_arrays;
    for (int k = 0; holds && k < tiles->n_aside; k++)
        holds = tiles->aside[k].array >= 0 && tiles->aside[k].array < n_arrays;
    return holds || reject_tiles(why, tiles, "there are no such arrays, or parts, to be stored");
}

/** All superblocks of the launches, each of which is launched once in a schedule; or those of a
 * slab. */
static bool check_ops(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    if (tiles->is_of_slab)
        return pti_check_slab_ops(schedule, tiles, why);
    if (tiles->is_of_ring)
        return reject_tiles(why, tiles, "a ring's halves are no slab's");
    const int first = tiles->first_launch;
    const pti_op *op = &schedule->op[tiles->first_op];
    int64_t n_superblocks = 0;
    for (int l = first; l < first + tiles->n_launches; l++)
        n_superblocks += schedule->launch[l].n_superblocks;
    if (n_superblocks != tiles->n_ops)
        return reject_tiles(why, tiles, "these are not all superblocks of their launches");
    for (int64_t k = 0; k < tiles->n_ops; k++)
        if (op[k].kind != PTI_LAUNCH || op[k].lane != 0 || op[k].launch < first ||
            op[k].launch >= first + tiles->n_launches)
            return reject_tiles(why, tiles, "not all of them are of these launches, in one stream");
    return true;
}

/** Nothing comes between them: all that they wait for is waited for before the first begins. */
static bool check_tile_waits(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    const int64_t last = tiles->first_op + tiles->n_ops - 1;
    for (int64_t k = tiles->first_op; k <= last; k++)
        for (int w = 0; w < schedule->op[k].n_waits; w++)
            if (schedule->wait[schedule->op[k].first_wait + w] >= tiles->first_op)
                return reject_tiles(why, tiles, "one waits for another one");
    for (int64_t w = 0; w < schedule->n_waits; w++)
        if (schedule->wait[w] >= tiles->first_op && schedule->wait[w] < last)
            return reject_tiles(why, tiles, "one before the last is waited for");
    return true;
}

/** Arrays of a ring have two places. */
static size_t n_places(const pti_schedule *schedule) {
    return 2 * (size_t)schedule->instance->n_operands;
}

/** Note where superblocks find arrays, and after all of them further pieces; false if one is at two
 * places. */
static bool find_array_places(const pti_schedule *schedule, const pti_tiles *tiles,
                              int64_t *place) {
    const int n_arrays = schedule->instance->n_operands;
    for (size_t p = 0; p < n_places(schedule); p++)
        place[p] = -1;
    for (int64_t k = tiles->first_op; k < tiles->first_op + tiles->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        const pti_call *call = &schedule->launch[op->launch].call;
        const int64_t *placement = pti_schedule_placements(schedule, op->launch, op->superblock);
        for (int o = 0; o < call->instance->n_operands; o++) {
            const bool is_further = o >= pti_instance_n_arrays(call->instance);
            int64_t *known = &place[call->array[o] + (is_further ? n_arrays : 0)];
            if (*known >= 0 && placement[o] >= 0 && *known != placement[o])
                return false;
            *known = pti_max(*known, placement[o]);
        }
    }
    return true;
}

static bool are_arrays_apart(const pti_schedule *schedule, const int64_t *place) {
    for (size_t a = 0; a < n_places(schedule); a++)
        for (size_t b = a + 1; b < n_places(schedule); b++)
            if (place[a] >= 0 && place[b] >= 0 &&
                pti_placements_overlap(&schedule->placement[place[a]],
                                       &schedule->placement[place[b]]))
                return false;
    return true;
}

static bool check_places(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    int64_t *place = malloc((n_places(schedule) + 1) * sizeof *place);
    why->failed |= place == NULL;
    const bool holds = place != NULL && find_array_places(schedule, tiles, place) &&
                       are_arrays_apart(schedule, place);
    free(place);
    return holds ||
           reject_tiles(why, tiles, "an array has several places, or one of another array's");
}

/** Check that what is stored is all that the last launch writes, and that no launch has threads
 * outside those of the first one: a device is told of these alone. */
static bool check_tiled_threads(const pti_schedule *schedule, const pti_tiles *tiles,
                                pti_text *why) {
    const polytile_domain *first = threads_of(schedule, tiles, 0);
    bool holds = pti_box_equals(&tiles->own, threads_of(schedule, tiles, tiles->n_launches - 1));
    for (int l = 0; l < tiles->n_launches && holds; l++) {
        const polytile_domain *domain = threads_of(schedule, tiles, l);
        for (int d = 0; d < domain->n_dims && holds; d++) {
            const int64_t n_later = tiles->n_launches - 1 - l;
            const int64_t lo =
                tiles->own.range[d].lo - n_later * tiles->margin_per_launch.before[d];
            const int64_t hi = tiles->own.range[d].hi + n_later * tiles->margin_per_launch.after[d];
            holds = domain->n_dims == first->n_dims &&
                    domain->range[d].lo == pti_max(lo, first->range[d].lo) &&
                    domain->range[d].hi == pti_min(hi, first->range[d].hi);
        }
    }
    return holds || reject_tiles(why, tiles, "tiles have other threads than the launches");
}

/** Return whether a subscript is an index of its own and constants. */
static bool is_index_and_constant(const pti_subscript *subscript, int index) {
    bool is = true;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        is = is && subscript->lo.index[k] == (k == index) && subscript->hi.index[k] == (k == index);
    return is;
}

/** Return whether a section is of elements within a launch's margin around the one that has the
 * thread's indices, or a turn away in periodic arrays. What is written is that element. */
static bool is_within_border(const pti_instance *instance, const pti_section *section,
                             const pti_tiles *tiles) {
    const bool is_written = section->role != POLYTILE_IN;
    bool is = section->n_dims == instance->n_indices;
    for (int d = 0; d < section->n_dims && is; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        const int64_t extent = pti_range_count(instance->threads.range[d]);
        const int64_t lo = subscript->lo.constant, hi = subscript->hi.constant;
        const int64_t turn =
            pti_goes_round(tiles->rounds, d) && !is_written ? pti_wrap_offset(lo, hi, extent) : 0;
        is = is_index_and_constant(subscript, d) &&
             lo - turn >= (is_written ? 0 : -tiles->margin_per_launch.before[d]) &&
             hi - turn <= (is_written ? 0 : tiles->margin_per_launch.after[d]);
    }
    return is;
}

/** A tile has each element of a periodic array once, and goes on beyond the ends of all arrays as
 * threads do. */
static bool is_round(const pti_instance *instance, const pti_tiles *tiles, int dim) {
    const polytile_range *threads = &instance->threads.range[dim];
    const int64_t border = tiles->n_launches * (tiles->margin_per_launch.before[dim] +
                                                tiles->margin_per_launch.after[dim]);
    bool is = tiles->tile[dim] + border <= pti_range_count(*threads);
    for (int o = 0; o < pti_instance_n_arrays(instance) && is; o++)
        is = pti_range_equals(instance->operand[o].whole.range[dim], *threads);
    return is;
}

/** Launches that run in two parts go round no arrays. */
static bool check_rounds(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    bool holds =
        tiles->rounds >> PTI_TILING_ROUNDS == 0 && (tiles->rounds == 0 || tiles->n_aside == 0);
    for (int l = 0; l < tiles->n_launches && holds; l++)
        for (int d = 0; d < PTI_TILING_ROUNDS && holds; d++)
            holds = !pti_goes_round(tiles->rounds, d) ||
                    (d < tiles->own.n_dims &&
                     is_round(schedule->launch[tiles->first_launch + l].call.instance, tiles, d));
    return holds || reject_tiles(why, tiles, "tiles do not go once round the arrays");
}

/** A device loads each array with one border, whoever writes it. */
static bool check_borders(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    bool holds = true;
    for (int l = 0; l < tiles->n_launches && holds; l++) {
        const pti_instance *instance = schedule->launch[tiles->first_launch + l].call.instance;
        for (int s = 0; s < instance->n_sections && holds; s++)
            holds = is_within_border(instance, &instance->section[s], tiles);
    }
    return holds || reject_tiles(why, tiles, "a thread reads beyond the border of its tile");
}

static void fill_tiling(const pti_schedule *schedule, const pti_tiles *tiles, int part,
                        pti_call *call, pti_tiling *tiling) {
    const int first = tiles->first_launch + part * tiling->n_launches;
    for (int l = 0; l < tiling->n_launches; l++) {
        const int n_later = tiling->n_launches - 1 - l;
        call[l] = schedule->launch[first + l].call;
        for (int d = 0; d < POLYTILE_MAX_DIMS; d++) {
            tiling->margin[l].before[d] = n_later * tiles->margin_per_launch.before[d];
            tiling->margin[l].after[d] = n_later * tiles->margin_per_launch.after[d];
        }
    }
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        tiling->tile[d] = tiles->tile[d];
    for (int a = 0; a < tiling->n_arrays; a++)
        tiling->is_stored[a] = pti_tile_part_stores(tiles, part, a);
}

/** Return the threads whose elements a part stores, those of a side. */
static const polytile_domain *stored_threads(const pti_schedule *schedule, const pti_tiles *tiles,
                                             int side, int part) {
    return part + 1 == pti_tiles_n_parts(tiles)
               ? pti_tiles_own(tiles, side)
               : threads_of(schedule, tiles, tiles->n_launches / 2 - 1);
}

static bool prove_part(const pti_schedule *schedule, const pti_tiles *tiles, int side, int part,
                       pti_text *why) {
    const int n_launches = tiles->n_launches / pti_tiles_n_parts(tiles);
    const int n_arrays = schedule->instance->n_operands;
    pti_call *call = calloc((size_t)n_launches + 1, sizeof *call);
    pti_tiling tiling = {.n_launches = n_launches,
                         .call = call,
                         .n_arrays = n_arrays,
                         .threads = *stored_threads(schedule, tiles, side, part),
                         .rounds = tiles->rounds,
                         .is_part = true,
                         .is_apart = tiles->n_aside > 0,
                         .margin = calloc((size_t)n_launches + 1, sizeof *tiling.margin),
                         .is_stored = calloc((size_t)n_arrays + 1, sizeof *tiling.is_stored)};
    const bool has_memory = call != NULL && tiling.margin != NULL && tiling.is_stored != NULL;
    bool holds = false;
    why->failed |= !has_memory;
    if (has_memory) {
        fill_tiling(schedule, tiles, part, call, &tiling);
        holds = pti_tiling_check(&tiling, why);
    }
    pti_tiling_free(&tiling);
    free(call);
    return holds || reject_tiles(why, tiles, "tiles would give something else");
}

/** Those of a slab store nothing on a side without threads. */
static bool prove_tiles(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    bool holds = tiles->is_of_slab || check_tiled_threads(schedule, tiles, why);
    for (int side = 0; side < pti_tiles_n_sides(tiles) && holds; side++) {
        const bool stores = !tiles->is_of_slab || !pti_box_is_empty(pti_tiles_own(tiles, side));
        for (int part = 0; part < pti_tiles_n_parts(tiles) && stores && holds; part++)
            holds = prove_part(schedule, tiles, side, part, why);
    }
    return holds;
}

bool pti_check_tiles(const pti_schedule *schedule, pti_text *why) {
    for (int t = 0; t < schedule->n_tiles; t++) {
        const pti_tiles *tiles = &schedule->tiles[t];
        if (!check_numbers(schedule, t, why) || !check_lengths(schedule, tiles, why) ||
            !check_stored(schedule, tiles, why) || !check_ops(schedule, tiles, why) ||
            !check_tile_waits(schedule, tiles, why) || !check_places(schedule, tiles, why) ||
            !check_rounds(schedule, tiles, why) || !prove_tiles(schedule, tiles, why) ||
            !pti_check_tile_parts(schedule, tiles, why))
            return false;
    }
    bool holds = pti_check_slab_tiles(schedule, why);
    for (int t = 0; t < schedule->n_tiles && holds; t++)
        holds = check_borders(schedule, &schedule->tiles[t], why);
    return holds;
}

static const pti_tiles *tiles_that_end_with(const pti_schedule *schedule, int64_t op) {
    for (int t = 0; t < schedule->n_tiles; t++)
        if (schedule->tiles[t].first_op + schedule->tiles[t].n_ops - 1 == op)
            return &schedule->tiles[t];
    return NULL;
}

/** What a launch wrote of an operand: nothing is known of it, but for what is stored. */
static void lose_operand(pti_replay *replay, const pti_instance *instance, int operand,
                         const polytile_domain *stored, int64_t placement) {
    polytile_domain written, kept;
    pti_boxes lost = {0};
    if (!instance->operand[operand].writes ||
        !pti_footprint_find_hull(instance, operand, PTI_WRITES, &instance->threads, &written))
        return;
    pti_boxes_append(&lost, &written);
    if (stored != NULL && pti_footprint_find_hull(instance, operand, PTI_WRITES, stored, &kept))
        pti_boxes_subtract(&lost, &kept);
    for (int b = 0; b < lost.n_boxes; b++)
        pti_replay_overwrite(replay, pti_replay_resident(replay, placement), &lost.box[b]);
    replay->failed |= lost.failed;
    pti_boxes_free(&lost);
}

static void lose_written(pti_replay *replay, const pti_tiles *tiles, int launch) {
    const pti_schedule *schedule = replay->schedule;
    const pti_schedule_launch *schedule_launch = &schedule->launch[launch];
    const int64_t *placement =
        pti_schedule_placements(schedule, launch, schedule_launch->first_superblock);
    for (int o = 0; o < schedule_launch->call.instance->n_operands; o++)
        lose_operand(replay, schedule_launch->call.instance, o,
                     pti_tiles_store(tiles, schedule_launch->call.array[o]) ? &tiles->own : NULL,
                     placement[o]);
}

void pti_replay_tiles(pti_replay *replay, int64_t op) {
    const pti_tiles *tiles = tiles_that_end_with(replay->schedule, op);
    if (tiles == NULL || tiles->is_of_slab)
        return;
    const int first = tiles->first_launch;
    for (int l = first; l < first + tiles->n_launches; l++)
        lose_written(replay, tiles, l);
}
