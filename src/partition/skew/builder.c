#include "partition/skew/builder.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "base/list.h"
#include "partition/skew/folded.h"

#include <stdlib.h>

int pti_skew_n_arrays(const pti_skew_builder *builder) {
    return builder->chain->arrays->n_operands;
}

pti_skew_image *pti_skew_image_aside(const pti_skew_builder *builder, int k) {
    return &builder->image[pti_skew_n_arrays(builder) + k];
}

pti_skew_image pti_skew_image_at(int64_t offset_bytes, int64_t placement) {
    return (pti_skew_image){.offset_bytes = offset_bytes,
                            .placement = placement,
                            .users = pti_last_none(),
                            .before = pti_last_none(),
                            .newest = -1};
}

bool pti_skew_builder_pass(const pti_skew_builder *builder, int number, pti_pass *pass) {
    int64_t n_per_pass = builder->shape->n_per_pass, first = number * n_per_pass;
    return pti_pass_begin(builder->chain, (int)first,
                          (int)pti_min(builder->chain->n_launches, first + n_per_pass), pass);
}

/* The launches. */

/** Return the threads of a launch, along its index, of which each touches the same operands, about:
 * all; of one half of a periodic launch those that reach neither its end nor the other half. */
static polytile_range inner_threads(const pti_chain *chain, int launch) {
    const pti_cut_launch *cut = &chain->launch[launch];
    int64_t most = 0;
    if (chain->folded == NULL)
        return cut->call.instance->threads.range[cut->index];
    for (int a = 0; a < chain->arrays->n_operands; a++) {
        pti_reach reach;
        if (pti_folded_reach(chain, launch, a, &reach))
            most = pti_max(most, reach.hi);
    }
    const polytile_range half = chain->folded->half[launch % pti_chain_unit(chain)];
    return pti_folded_threads(chain, launch, (polytile_range){half.lo + most, half.hi - most, 1});
}

/** Find which operands slabs of a launch touch, as far as that is certain without looking at each
 * slab. */
static void find_touched(const pti_chain *chain, int launch, pti_skew_launch *known) {
    const pti_cut_launch *cut = &chain->launch[launch];
    polytile_domain threads = cut->call.instance->threads, hull;
    known->within = threads.range[cut->index] = inner_threads(chain, launch);
    known->touched = known->untouched = 0;
    for (int o = 0; o < cut->call.instance->n_operands && !pti_range_is_empty(known->within); o++)
        if (pti_footprint_is_everywhere(cut->call.instance, o, &threads))
            known->touched |= UINT64_C(1) << o;
        else if (!pti_footprint_find_hull(cut->call.instance, o, PTI_TOUCHES, &threads, &hull))
            known->untouched |= UINT64_C(1) << o;
}

/** Find the slabs and the superblocks of each launch. Returns the most slabs of a pass, -1 when
 * memory runs out. */
static int64_t count_launch_superblocks(const pti_skew_builder *builder,
                                        pti_schedule_launch *launch) {
    int64_t most_slabs = 0;
    for (int p = 0; p < builder->shape->n_passes; p++) {
        pti_pass pass;
        bool has_begun = pti_skew_builder_pass(builder, p, &pass);
        for (int l = pass.first; has_begun && l < pass.end; l++) {
            pti_skew_launch *known = &builder->launch[l];
            pti_pass_slabs_of(&pass, l, builder->shape->slab, &known->first_slab,
                              &known->last_slab);
            launch[l].call = builder->chain->launch[l].call;
            launch[l].n_superblocks =
                known->last_slab - known->first_slab + 1 - pti_slabs_unlisted(&builder->turns);
            find_touched(builder->chain, l, known);
        }
        if (has_begun)
            most_slabs = pti_max(most_slabs, pti_pass_n_slabs(&pass, builder->shape->slab));
        pti_pass_end(&pass);
        if (!has_begun)
            return -1;
    }
    return most_slabs;
}

bool pti_skew_builder_begin(pti_skew_builder *builder, int64_t *most_slabs) {
    int n_launches = builder->chain->n_launches;
    pti_schedule_launch *launch = calloc((size_t)n_launches + 1, sizeof *launch);
    builder->launch = calloc((size_t)n_launches + 1, sizeof *builder->launch);
    *most_slabs =
        launch == NULL || builder->launch == NULL ? -1 : count_launch_superblocks(builder, launch);
    if (*most_slabs >= 0)
        pti_builder_begin(&builder->builder, builder->chain->arrays, n_launches, launch);
    free(launch);
    builder->schedule = builder->builder.schedule;
    builder->part[1] = builder->turns.times > 0 ? builder->turns.first - 1 : INT64_MAX;
    for (int s = 0; s < PTI_SKEW_STREAMS; s++)
        builder->waited[s] = pti_last_none();
    builder->computed = builder->uploaded = builder->ready = builder->ahead = pti_last_none();
    return builder->schedule != NULL && !builder->builder.failed;
}

void pti_skew_builder_end(pti_skew_builder *builder) {
    for (int a = 0; builder->image != NULL && a < pti_skew_n_arrays(builder); a++) {
        free(builder->image[a].download);
        free(builder->image[a].former);
    }
    free(builder->image);
    free(builder->launch);
    for (int lane = 0; lane < PTI_SKEW_LANES; lane++)
        free(builder->ran[lane]);
    pti_skew_sets_free(&builder->sets);
    pti_boxes_free(&builder->reused);
}

/* Operations. */

int64_t pti_skew_superblock_at(const pti_skew_builder *builder, int launch, int64_t k) {
    const pti_skew_launch *known = &builder->launch[launch];
    const pti_schedule_launch *made = &builder->schedule->launch[launch];
    const int64_t in_part = pti_min(pti_max(k, builder->part[0]), builder->part[1]);
    const int64_t number = in_part - builder->n_unlisted - known->first_slab;
    return made->first_superblock + pti_min(pti_max(number, 0), made->n_superblocks - 1);
}

int64_t pti_skew_builder_add(pti_skew_builder *builder, const pti_op *op, const pti_last *waits) {
    pti_stream on = pti_op_stream(op);
    pti_last left = pti_last_none();
    for (int s = 0; s < waits->n_streams; s++) {
        if (waits->op[s] <= pti_last_on(&builder->waited[on], s))
            continue;
        pti_last_note_on(&left, (pti_stream)s, waits->op[s]);
        pti_last_note_on(&builder->waited[on], (pti_stream)s, waits->op[s]);
    }
    int64_t added = pti_builder_add(&builder->builder, op, &left);
    if (op->kind == PTI_LAUNCH || op->kind == PTI_FILL)
        pti_last_note_on(&builder->computed, on, added);
    if (op->kind != PTI_LAUNCH && op->kind != PTI_DOWNLOAD)
        pti_last_note_on(&builder->uploaded, on, added);
    return added;
}

int pti_skew_lane(const pti_skew_builder *builder, int64_t k) {
    return builder->shape->concurrent ? (int)(k % PTI_SKEW_LANES) : 0;
}

/** Return whether an array has an image that launches of the pass may use. */
static bool is_here(const pti_skew_builder *builder, int array) {
    return builder->chain->axis[array] == PTI_AXIS_WHOLE || builder->pass.band[array].passes;
}

/** Return whether a box of a launch's threads touches an operand. */
static bool touches_operand(const pti_skew_builder *builder, int launch, int operand,
                            const polytile_domain *threads) {
    const pti_skew_launch *known = &builder->launch[launch];
    const pti_cut_launch *cut = &builder->chain->launch[launch];
    const polytile_range *along = &threads->range[cut->index];
    const uint64_t certain =
        known->within.lo <= along->lo && along->hi <= known->within.hi ? UINT64_MAX : 0;
    polytile_domain hull;
    if (((known->touched | known->untouched) & certain) >> operand & 1)
        return known->touched >> operand & 1;
    return pti_footprint_find_hull(cut->call.instance, operand, PTI_TOUCHES, threads, &hull);
}

/** Place the operands of a launch's threads, and find what the launch waits for. */
static void place_touched(const pti_skew_builder *builder, int launch,
                          const polytile_domain *threads, int64_t *placement, pti_last *waits) {
    const pti_call *call = &builder->chain->launch[launch].call;
    for (int o = 0; o < call->instance->n_operands; o++) {
        const int array = call->array[o];
        if (!is_here(builder, array) ||
            (!builder->is_in_tiles && !touches_operand(builder, launch, o, threads)))
            continue;
        placement[o] = builder->image[array].placement;
        pti_last_join(waits, &builder->image[array].before);
    }
}

/** Note that a launch's operation uses the memory of what it touches. */
static void note_users(pti_skew_builder *builder, const pti_call *call, const int64_t *placement,
                       pti_stream on, int64_t added) {
    for (int o = 0; o < call->instance->n_operands; o++) {
        pti_skew_image *along = &builder->image[call->array[o]];
        if (placement[o] < 0)
            continue;
        pti_last_note_on(&along->users, on, added);
        along->is_filled = along->is_filled || call->instance->operand[o].writes;
    }
}

int64_t pti_skew_add_launch(pti_skew_builder *builder, int launch, int64_t k) {
    const pti_skew_launch *known = &builder->launch[launch];
    if (k < known->first_slab || k > known->last_slab)
        return -1;
    const int64_t superblock = pti_skew_superblock_at(builder, launch, k);
    int64_t *placement = pti_schedule_placements(builder->schedule, launch, superblock);
    polytile_domain *threads = &builder->schedule->superblock[superblock];
    pti_last all = builder->ready;
    pti_pass_threads(&builder->pass, launch, builder->shape->slab, k, k, threads);
    pti_last_join(&all, &builder->ahead);
    place_touched(builder, launch, threads, placement, &all);
    for (int a = 0; a < builder->n_aside && builder->is_with_aside; a++)
        pti_last_join(&all, &pti_skew_image_aside(builder, a)->before);
    const pti_op op = {.kind = PTI_LAUNCH,
                       .lane = pti_skew_lane(builder, k),
                       .launch = launch,
                       .superblock = superblock,
                       .placement = -1,
                       .source_placement = -1,
                       .box = *threads};
    const int64_t added = pti_skew_builder_add(builder, &op, &all);
    note_users(builder, &builder->chain->launch[launch].call, placement, pti_op_stream(&op), added);
    return added;
}

/* Concurrent slabs. A launch's threads in a slab follow those of earlier launches, and their own,
 * in the slabs before. They share nothing with later launches there: of two threads that touch an
 * element, the earlier launch's is in the same slab or one before. */

/** Launches that wait together for as many of the slab before: to wait for each costs more than it
 * gains (1 % on an H200, with kernels of 20 us during uploads). */
enum { LAUNCHES_PER_WAIT = 4 };

static int64_t *new_last_operations(int n_launches) {
    int64_t *last = malloc(((size_t)n_launches + 1) * sizeof *last);
    for (int l = 0; last != NULL && l < n_launches; l++)
        last[l] = -1;
    return last;
}

bool pti_skew_concurrent_begin(pti_skew_builder *builder) {
    bool has_all = true;
    for (int lane = 0; lane < PTI_SKEW_LANES; lane++) {
        builder->ran[lane] = new_last_operations(builder->chain->n_launches);
        has_all = has_all && builder->ran[lane] != NULL;
    }
    return has_all;
}

/** Let the current slab's next launches follow some launches of the slab before, in the other
 * lane; units are waited for as a whole. Returns the first launch that does not. */
static int wait_for_launches(pti_skew_builder *builder, int other, int unit) {
    const int first = builder->pass.unit[unit].first;
    int end = first;
    for (; unit < builder->pass.n_units && end < first + LAUNCHES_PER_WAIT; unit++)
        end = builder->pass.unit[unit].first + builder->pass.unit[unit].n_launches;
    const pti_stream stream = pti_lane_stream(other);
    for (int l = first; l < end; l++)
        if (builder->ran[other][l] > pti_last_on(&builder->ahead, (int)stream))
            pti_last_note_on(&builder->ahead, stream, builder->ran[other][l]);
    return end;
}

/** Let launches that run as one load or store aside, and note that they use that memory. */
static void add_aside(pti_skew_builder *builder, pti_tiles *made) {
    const int64_t last_op = made->first_op + made->n_ops - 1;
    made->n_aside = builder->n_aside;
    for (int a = 0; a < builder->n_aside; a++) {
        pti_skew_image *along = pti_skew_image_aside(builder, a);
        made->aside[a] = (pti_tile_aside){.array = builder->aside[a],
                                          .offset_bytes = along->offset_bytes,
                                          .placement = along->placement};
        pti_last_note_on(&along->users, pti_op_stream(&builder->schedule->op[last_op]), last_op);
        along->is_filled = along->is_filled || !made->is_from_aside;
    }
}

/** Let launches of a slab, whose operations from one on were added, run as one. */
static void tile_unit(pti_skew_builder *builder, const pti_tiled_unit *unit, int64_t k,
                      int64_t first_op) {
    const int n_halves = unit->sequence->n_halves;
    const int last = unit->first + unit->n_launches - n_halves;
    pti_schedule *schedule = builder->schedule;
    polytile_domain own[2];
    if (schedule->n_ops == first_op)
        return;
    for (int h = 0; h < n_halves; h++)
        if (!pti_pass_threads(&builder->pass, last + h, builder->shape->slab, k, k, &own[h]))
            own[h] = pti_box_empty(own[h].n_dims);
    pti_tiles made = pti_tiled_tiles(builder->chain, unit, builder->shape->slab, own);
    made.first_op = first_op;
    made.n_ops = schedule->n_ops - first_op;
    if (builder->is_with_aside)
        add_aside(builder, &made);
    if (PTI_RESIZE(schedule->tiles, schedule->n_tiles + 1))
        schedule->tiles[schedule->n_tiles++] = made;
    else
        builder->builder.failed = true;
}

static void add_unit(pti_skew_builder *builder, const pti_tiled_unit *unit, int64_t k) {
    const int on = pti_skew_lane(builder, k);
    const int64_t first_op = builder->schedule->n_ops;
    builder->is_in_tiles = unit->n_launches > 1 && unit->sequence->n_halves > 1;
    builder->is_with_aside = unit->n_launches > 1 && pti_tiled_n_aside(unit->sequence) > 0;
    for (int l = unit->first; l < unit->first + unit->n_launches; l++)
        builder->ran[on][l] = pti_max(builder->ran[on][l], pti_skew_add_launch(builder, l, k));
    if (unit->n_launches > 1)
        tile_unit(builder, unit, k, first_op);
}

void pti_skew_add_launches(pti_skew_builder *builder, int64_t k) {
    const int other = PTI_SKEW_LANES - 1 - pti_skew_lane(builder, k);
    int waits_from = builder->pass.first;
    builder->ahead = pti_last_none();
    for (int u = 0; u < builder->pass.n_units; u++) {
        if (builder->pass.unit[u].first == waits_from)
            waits_from = wait_for_launches(builder, other, u);
        add_unit(builder, &builder->pass.unit[u], k);
    }
}
