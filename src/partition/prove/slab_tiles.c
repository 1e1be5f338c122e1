#include "partition/prove/slab_tiles.h"

#include "access/footprint/call.h"
#include "access/set/box.h"
#include "partition/prove/needs/needs.h"
#include "partition/prove/programs/slab_loads.h"
#include "partition/prove/programs/slab_program.h"
#include "partition/prove/shape/shape.h"

#include <inttypes.h>
#include <stdlib.h>

bool pti_has_slab_tiles(const pti_schedule *schedule) {
    bool has = false;
    for (int t = 0; t < schedule->n_tiles; t++)
        has = has || schedule->tiles[t].is_of_slab;
    return has;
}

static bool reject_slab(const pti_tiles *tiles, const char *reason, pti_text *why) {
    return PTI_REJECT(why, "operations %" PRId64 " to %" PRId64 ", which run as one in a slab: %s",
                      tiles->first_op, tiles->first_op + tiles->n_ops - 1, reason);
}

/** Each operation of the last launch is of the threads of another side, and of no side are there
 * threads without one. */
static bool are_last_threads_stored(const pti_op *op, const pti_tiles *tiles) {
    int64_t k = tiles->n_ops;
    for (int side = pti_tiles_n_sides(tiles) - 1; side >= 0; side--) {
        const polytile_domain *own = pti_tiles_own(tiles, side);
        if (pti_box_is_empty(own))
            continue;
        k--;
        if (k < 0 || op[k].launch != pti_slab_last_launch(tiles) ||
            !pti_box_equals(own, &op[k].box))
            return false;
    }
    return k == 0 || op[k - 1].launch != pti_slab_last_launch(tiles);
}

bool pti_check_slab_ops(const pti_schedule *schedule, const pti_tiles *tiles, pti_text *why) {
    const pti_op *op = &schedule->op[tiles->first_op];
    const int n_sides = pti_tiles_n_sides(tiles);
    for (int64_t k = 0; k < tiles->n_ops; k++)
        if (op[k].kind != PTI_LAUNCH || op[k].lane != op->lane ||
            op[k].launch < (k == 0 ? tiles->first_launch : op[k - 1].launch) ||
            (k >= n_sides && op[k].launch == op[k - n_sides].launch) ||
            op[k].launch > pti_slab_last_launch(tiles))
            return reject_slab(tiles, "not each is another launch's, in one stream", why);
    return are_last_threads_stored(op, tiles) ||
           reject_slab(tiles, "others are stored than the last launch's threads", why);
}

/* All slabs of the launches that run as one. */

/** Of each launch tiles with it; NULL: none. */
typedef struct slab_units {
    const pti_schedule *schedule;
    pti_text *why;
    const pti_tiles **of_launch;
    int64_t *n_ops;   /* in tiles */
    pti_boxes *lost;  /* of each array: what is not, in its newest version, where the array is */
    pti_boxes *aside; /* of each array: what is so in memory aside */
    pti_boxes used, loads, written, inside;
} slab_units;

static bool are_tiles_alike(const pti_tiles *one, const pti_tiles *other) {
    bool are = one->first_launch == other->first_launch && one->n_launches == other->n_launches &&
               one->n_stored == other->n_stored && one->n_aside == other->n_aside &&
               one->is_from_aside == other->is_from_aside && one->rounds == other->rounds;
    for (int k = 0; k < one->n_stored && are; k++)
        are = one->stored[k] == other->stored[k];
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        are = are && one->margin_per_launch.before[d] == other->margin_per_launch.before[d] &&
              one->margin_per_launch.after[d] == other->margin_per_launch.after[d];
    return are;
}

/** Memory aside is a place of its own, laid out as the array is: a device finds it by how far it is
 * from there. */
static bool is_aside_placed(const pti_schedule *schedule, const pti_tiles *tiles, int number) {
    const pti_tile_aside *aside = &tiles->aside[number];
    if (aside->array != tiles->stored[number] || aside->placement < 0 ||
        aside->placement >= schedule->n_placements)
        return false;
    const pti_placement *placement = &schedule->placement[aside->placement],
                        *home = pti_tiles_placement(schedule, tiles, aside->array);
    bool is = placement->is_aside && placement->operand == aside->array &&
              placement->offset_bytes == aside->offset_bytes;
    for (int k = 0; k < number; k++)
        is = is && tiles->aside[k].array != aside->array;
    if (pti_box_is_empty(&tiles->own))
        return is;
    is = is && home != NULL && pti_box_equals(&placement->layout.hull, &home->layout.hull);
    for (int d = 0; d < placement->layout.hull.n_dims && is; d++)
        is = placement->layout.stride_bytes[d] == home->layout.stride_bytes[d];
    return is;
}

static bool note_tiles(slab_units *units, const pti_tiles *tiles) {
    for (int k = 0; k < tiles->n_aside; k++)
        if (!is_aside_placed(units->schedule, tiles, k))
            return reject_slab(tiles, "memory aside is not as its array's", units->why);
    for (int l = tiles->first_launch; l <= pti_slab_last_launch(tiles); l++) {
        if (units->of_launch[l] != NULL && !are_tiles_alike(units->of_launch[l], tiles))
            return reject_slab(tiles, "the launches run with others in another slab", units->why);
        units->of_launch[l] = tiles;
    }
    for (int64_t k = 0; k < tiles->n_ops; k++)
        units->n_ops[units->schedule->op[tiles->first_op + k].launch]++;
    return true;
}

static bool check_all_slabs(slab_units *units) {
    const pti_schedule *schedule = units->schedule;
    for (int t = 0; t < schedule->n_tiles; t++)
        if (!schedule->tiles[t].is_of_slab)
            return PTI_REJECT(units->why, "launches run as one in slabs, and others as a whole");
    for (int t = 0; t < schedule->n_tiles; t++)
        if (!note_tiles(units, &schedule->tiles[t]))
            return false;
    for (int l = 0; l < schedule->n_launches; l++)
        if (units->of_launch[l] != NULL && units->n_ops[l] != schedule->launch[l].n_superblocks)
            return reject_slab(units->of_launch[l], "the launches run one by one in another slab",
                               units->why);
    return true;
}

/* Their arrays. */

static bool is_only_read(const pti_operand *operand) {
    return operand->reads && !operand->writes && !operand->reduces && !operand->is_scratch;
}

static bool is_only_written(const pti_operand *operand) {
    return operand->writes && !operand->reads && !operand->reduces && !operand->partial &&
           operand->n_sections == 1;
}

static bool has_arrays(const pti_call *call, const pti_call *last) {
    bool has = pti_instance_n_arrays(call->instance) == PTI_TILE_IMAGES;
    for (int o = 0; o < call->instance->n_operands && has; o++)
        has = call->array[o] == last->array[0] || call->array[o] == last->array[1];
    return has;
}

/** Return whether a launch has the arrays of another one, each once, and as many threads. */
static bool is_in_turn(const pti_call *call, const pti_call *last) {
    const int n = call->instance->n_operands;
    bool is = n == last->instance->n_operands && n <= PTI_SLAB_OPERANDS &&
              call->instance->n_further == 0 &&
              pti_box_equals(&call->instance->threads, &last->instance->threads);
    for (int o = 0; o < n && is; o++)
        is = pti_call_has_array(last, call->array[o]) && pti_call_has_array(call, last->array[o]);
    return is;
}

static bool is_written_by(const slab_units *units, const pti_tiles *tiles, int array) {
    bool is = false;
    for (int l = tiles->first_launch; l <= pti_slab_last_launch(tiles); l++)
        is = is || pti_call_writes(&units->schedule->launch[l].call, array);
    return is;
}

static bool is_only_written_last(const pti_call *last, int array) {
    bool is = false;
    for (int o = 0; o < last->instance->n_operands; o++)
        is = is || (last->array[o] == array && is_only_written(&last->instance->operand[o]));
    return is;
}

/** Each launch has the same arrays, and writes one. Without memory aside the last one writes what
 * is stored, and does not read it; else some of them write it. */
static bool check_turning_arrays(const slab_units *units, const pti_tiles *tiles) {
    const pti_call *last = &units->schedule->launch[pti_slab_last_launch(tiles)].call;
    bool holds = true;
    for (int l = tiles->first_launch; l <= pti_slab_last_launch(tiles) && holds; l++) {
        const pti_call *call = &units->schedule->launch[l].call;
        int n_written = 0;
        holds = is_in_turn(call, last);
        for (int o = 0; o < call->instance->n_operands && holds; o++) {
            const pti_operand *operand = &call->instance->operand[o];
            n_written += operand->writes;
            holds = is_only_read(operand) || (operand->writes && !operand->reduces &&
                                              !operand->partial && operand->n_sections == 1);
        }
        holds = holds && n_written == 1;
    }
    for (int k = 0; k < tiles->n_stored && holds; k++)
        holds = tiles->n_aside > 0 ? is_written_by(units, tiles, tiles->stored[k])
                                   : is_only_written_last(last, tiles->stored[k]);
    return holds || reject_slab(tiles, "their arrays do not change roles in turn", units->why);
}

static bool check_tile_arrays(const slab_units *units, const pti_tiles *tiles) {
    const pti_call *last = &units->schedule->launch[pti_slab_last_launch(tiles)].call;
    if (last->instance->n_further == 0)
        return check_turning_arrays(units, tiles);
    bool holds = pti_instance_n_arrays(last->instance) == PTI_TILE_IMAGES;
    for (int l = tiles->first_launch; l <= pti_slab_last_launch(tiles); l++)
        holds = holds && has_arrays(&units->schedule->launch[l].call, last);
    holds =
        holds && tiles->n_stored == 1 && tiles->n_aside == 0 && last->array[1] == tiles->stored[0];
    for (int o = 0; o < last->instance->n_operands && holds; o++) {
        const pti_operand *operand = &last->instance->operand[o];
        holds = pti_operand_array(last->instance, o) == 0 ? is_only_read(operand)
                                                          : is_only_written(operand);
    }
    return holds ||
           reject_slab(tiles, "they do not go from one array to the other one", units->why);
}

/* What is lost. */

static bool check_not_lost(slab_units *units, int launch, int array, const pti_boxes *read) {
    const polytile_domain *box = pti_boxes_find_meeting(read, &units->lost[array]);
    if (box == NULL)
        return true;
    pti_text_add(units->why, "launch %d, %s", launch,
                 units->schedule->instance->operand[array].name);
    pti_box_write(units->why, box);
    return PTI_REJECT(units->why,
                      ": is read, but launches that run as one in slabs did not store it");
}

static void list_sections(slab_units *units, const pti_call *call, int operand, bool is_read) {
    pti_boxes_clear(&units->used);
    for (int s = 0; s < call->instance->n_sections; s++) {
        const pti_section *section = &call->instance->section[s];
        if (section->operand == operand &&
            (is_read ? section->role != POLYTILE_OUT : section->role != POLYTILE_IN))
            pti_needs_list(call->instance, section, &call->instance->threads, &units->used);
    }
}

static bool check_single(slab_units *units, int launch) {
    const pti_call *call = &units->schedule->launch[launch].call;
    for (int o = 0; o < call->instance->n_operands; o++) {
        list_sections(units, call, o, true);
        if (!check_not_lost(units, launch, call->array[o], &units->used))
            return false;
    }
    for (int o = 0; o < call->instance->n_operands; o++) {
        list_sections(units, call, o, false);
        pti_boxes_subtract_all(&units->aside[call->array[o]], &units->used);
        if (!call->instance->operand[o].partial)
            pti_boxes_subtract_all(&units->lost[call->array[o]], &units->used);
    }
    return true;
}

/** What tiles write of an array, which is in used, is stored where it is, aside, or lost. */
static void note_written(slab_units *units, const pti_tiles *tiles, int array) {
    const bool is_stored = pti_tiles_store(tiles, array);
    const bool is_home = is_stored && (tiles->n_aside == 0 || tiles->is_from_aside);
    pti_boxes_subtract_all(&units->aside[array], &units->used);
    if (is_home)
        pti_boxes_subtract_all(&units->lost[array], &units->used);
    else
        pti_boxes_unite(&units->lost[array], &units->used, pti_boxes_include);
    if (is_stored && !is_home)
        pti_boxes_unite(&units->aside[array], &units->used, pti_boxes_include);
}

static void note_stored_and_lost(slab_units *units, const pti_tiles *tiles) {
    for (int l = tiles->first_launch; l <= pti_slab_last_launch(tiles); l++) {
        const pti_call *call = &units->schedule->launch[l].call;
        for (int o = 0; o < call->instance->n_operands; o++) {
            list_sections(units, call, o, false);
            if (units->used.n_boxes > 0)
                note_written(units, tiles, call->array[o]);
        }
    }
}

/** What launches write is loaded from aside, and must be there; all else from where the array
 * is. */
static bool check_loads_from_aside(slab_units *units, const pti_tiles *tiles, int array) {
    pti_slab_writes(units->schedule, tiles, array, &units->written);
    pti_boxes_intersect(&units->inside, &units->loads, &units->written);
    pti_boxes_subtract_all(&units->loads, &units->written);
    const polytile_domain *missing = pti_boxes_find_uncovered(&units->aside[array], &units->inside);
    if (missing == NULL)
        return true;
    pti_text_add(units->why, "launch %d, %s", tiles->first_launch,
                 units->schedule->instance->operand[array].name);
    pti_box_write(units->why, missing);
    return PTI_REJECT(units->why, ": is loaded from aside, where launches that run as one in slabs "
                                  "did not store it");
}

static bool check_unit(slab_units *units, const pti_tiles *tiles) {
    const pti_call *last = &units->schedule->launch[pti_slab_last_launch(tiles)].call;
    for (int o = 0; o < pti_instance_n_arrays(last->instance); o++) {
        pti_slab_loads(units->schedule, tiles, &last->instance->threads, last->array[o],
                       &units->loads);
        if (tiles->n_aside > 0 && tiles->is_from_aside &&
            !check_loads_from_aside(units, tiles, last->array[o]))
            return false;
        if (!check_not_lost(units, tiles->first_launch, last->array[o], &units->loads))
            return false;
    }
    note_stored_and_lost(units, tiles);
    return true;
}

static bool check_end(const slab_units *units) {
    const pti_schedule *schedule = units->schedule;
    for (int a = 0; a < schedule->instance->n_operands; a++)
        if (units->lost[a].n_boxes > 0 && (schedule->dropped == NULL || !schedule->dropped[a]))
            return PTI_REJECT(units->why,
                              "%s is not dropped, but launches that run as one in slabs did not "
                              "store all of it",
                              schedule->instance->operand[a].name);
    return true;
}

static bool check_lost(slab_units *units) {
    for (int l = 0; l < units->schedule->n_launches; l++) {
        const pti_tiles *tiles = units->of_launch[l];
        bool holds = true;
        if (tiles == NULL)
            holds = check_single(units, l);
        else if (l == pti_slab_last_launch(tiles))
            holds = check_tile_arrays(units, tiles) && check_unit(units, tiles);
        if (!holds)
            return false;
    }
    return check_end(units);
}

static bool have_units_failed(const slab_units *units) {
    bool has =
        units->used.failed || units->loads.failed || units->written.failed || units->inside.failed;
    for (int a = 0; a < units->schedule->instance->n_operands; a++)
        has = has || (units->lost != NULL && units->lost[a].failed) ||
              (units->aside != NULL && units->aside[a].failed);
    return has;
}

bool pti_check_slab_tiles(const pti_schedule *schedule, pti_text *why) {
    const size_t n_launches = (size_t)schedule->n_launches + 1;
    const int n_arrays = schedule->instance->n_operands;
    if (!pti_has_slab_tiles(schedule))
        return true;
    slab_units units = {.schedule = schedule,
                        .why = why,
                        .of_launch = calloc(n_launches, sizeof *units.of_launch),
                        .n_ops = calloc(n_launches, sizeof *units.n_ops),
                        .lost = calloc((size_t)n_arrays + 1, sizeof *units.lost),
                        .aside = calloc((size_t)n_arrays + 1, sizeof *units.aside)};
    const bool has_memory =
        units.of_launch != NULL && units.n_ops != NULL && units.lost != NULL && units.aside != NULL;
    bool holds = has_memory && check_all_slabs(&units) && check_lost(&units);
    why->failed = why->failed || !has_memory || have_units_failed(&units);
    pti_boxes_free_list(units.lost, n_arrays);
    pti_boxes_free_list(units.aside, n_arrays);
    pti_boxes_free(&units.written);
    pti_boxes_free(&units.inside);
    pti_boxes_free(&units.used);
    pti_boxes_free(&units.loads);
    free(units.of_launch);
    free(units.n_ops);
    return holds && !why->failed;
}
