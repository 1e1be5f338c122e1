#include "partition/skew/builder.h"

#include <stdlib.h>

/** All that was done before is done. */
static void forget_done(pti_skew_builder *builder) {
    for (int s = 0; s < PTI_SKEW_STREAMS; s++)
        builder->waited[s] = pti_last_none();
    builder->uploaded = builder->ready = builder->computed = builder->ahead = pti_last_none();
    for (int a = 0; a < pti_skew_n_arrays(builder); a++)
        builder->image[a].users = builder->image[a].before = pti_last_none();
    for (int lane = 0; lane < PTI_SKEW_LANES; lane++)
        for (int l = 0; l < builder->chain->n_launches; l++)
            builder->ran[lane][l] = -1;
}

static bool stays_whole(const pti_skew_builder *builder, int array) {
    return builder->chain->axis[array] == PTI_AXIS_WHOLE;
}

/** Let an array's image be found at a placement of the current part's own, shifted by some turns.
 */
static void place_moved(pti_skew_builder *builder, int array, int64_t turns) {
    pti_skew_image *along = &builder->image[array];
    const pti_shift *shift = &builder->schedule->period.array[array];
    along->placement = pti_builder_place_moved(&builder->builder, along->placement, shift, turns);
    if (stays_whole(builder, array))
        return;
    along->rows.lo += turns * shift->by[builder->chain->axis[array]];
    along->rows.hi += turns * shift->by[builder->chain->axis[array]];
}

/** Return whether one of the last launches is the same: it wrote all that this one did, which is
 * behind it. */
static bool has_come_before(const pti_chain *chain, int launch) {
    enum { N_LOOKED_AT = 4 };
    bool is = false;
    for (int l = launch - 1; l >= 0 && l >= launch - N_LOOKED_AT; l--)
        is = is || pti_chain_is_same_launch(&chain->launch[l], &chain->launch[launch]);
    return is;
}

/** Add what a launch has written of an array before a slab, in a box. */
static void add_written(const pti_skew_builder *builder, int launch, int array, int64_t k,
                        const polytile_domain *clip, pti_boxes *written) {
    const pti_call *call = &builder->chain->launch[launch].call;
    polytile_domain threads;
    pti_boxes touched = {0};
    if (!pti_pass_threads(&builder->pass, launch, builder->shape->slab, 0, k - 1, &threads))
        return;
    for (int o = 0; o < call->instance->n_operands; o++) {
        if (call->array[o] != array || !call->instance->operand[o].writes)
            continue;
        pti_footprint_boxes(call->instance, o, PTI_WRITES, &threads, PTI_MAX_WRITE_BOXES, &touched);
        pti_boxes_clip(&touched, clip);
        pti_boxes_unite(written, &touched, pti_boxes_add_new);
    }
    written->failed |= touched.failed;
    pti_boxes_free(&touched);
}

/** Find what an array's image holds when a slab begins, of the rows that it and the slab before
 * touch: what came, and what is newer than the host's: zeros, and what was written. */
static void find_held(const pti_skew_builder *builder, int array, int64_t k, pti_carried *held) {
    const pti_pass_sets *sets = pti_skew_sets_of(&builder->sets, 0, array);
    const polytile_range rows =
        pti_pass_rows(&builder->pass, array, builder->shape->slab, k - 1, k);
    polytile_domain clip = builder->chain->arrays->operand[array].domain;
    clip.range[builder->chain->axis[array]] = rows;
    if (builder->request->unwritten != NULL) {
        pti_boxes_copy(&held->dirty, &sets->filled);
        pti_boxes_clip_all(&held->dirty, &builder->request->unwritten[array]);
        pti_boxes_clip(&held->dirty, &clip);
    }
    for (int l = builder->pass.first; l < builder->pass.end; l++)
        if (!has_come_before(builder->chain, l))
            add_written(builder, l, array, k, &clip, &held->dirty);
    pti_boxes_merge(&held->dirty);
    pti_boxes_copy(&held->valid, &sets->exposed);
    pti_boxes_clip(&held->valid, &clip);
    pti_boxes_unite(&held->valid, &held->dirty, pti_boxes_add_new);
    pti_boxes_merge(&held->valid);
}

/** Carry an array's image into the turn. */
static void carry_image(pti_skew_builder *builder, int array) {
    pti_period *period = &builder->schedule->period;
    pti_carried *carried = &period->carried[period->n_carried++];
    carried->first = builder->image[array].placement;
    if (stays_whole(builder, array))
        pti_skew_sets_find_whole(&builder->sets, array, &carried->valid);
    else
        find_held(builder, array, builder->turns.first, carried);
    builder->builder.failed |= carried->valid.failed || carried->dirty.failed;
    place_moved(builder, array, 0);
}

static bool is_carried(const pti_skew_builder *builder, int array) {
    return stays_whole(builder, array) || builder->pass.band[array].passes;
}

static bool allocate_period(const pti_skew_builder *builder, pti_period *period) {
    const size_t n_arrays = (size_t)pti_skew_n_arrays(builder);
    const size_t n_launches = (size_t)builder->chain->n_launches;
    period->array = calloc(n_arrays + 1, sizeof *period->array);
    period->carried = calloc(n_arrays + 1, sizeof *period->carried);
    period->launch = calloc(n_launches + 1, sizeof *period->launch);
    period->n_launches = builder->chain->n_launches;
    return period->array != NULL && period->carried != NULL && period->launch != NULL;
}

void pti_skew_turn_begin(pti_skew_builder *builder) {
    pti_schedule *schedule = builder->schedule;
    pti_period *period = &schedule->period;
    const pti_slab_turns *turns = &builder->turns;
    const int64_t n_rows = turns->n * builder->shape->slab;
    if (builder->builder.failed || !allocate_period(builder, period)) {
        builder->builder.failed = true;
        return;
    }
    builder->part[0] = turns->first;
    builder->part[1] = turns->first + turns->n - 1;
    period->first_op = schedule->n_ops;
    period->first_placement = schedule->n_placements;
    for (int l = 0; l < schedule->n_launches; l++) {
        period->launch[l] = (pti_period_launch){
            .first_superblock = pti_skew_superblock_at(builder, l, turns->first),
            .n_superblocks = turns->n,
            .threads = pti_skew_turn_of_launch(&builder->pass, l, n_rows)};
        period->first_kernel +=
            period->launch[l].first_superblock - schedule->launch[l].first_superblock;
    }
    for (int a = 0; a < pti_skew_n_arrays(builder); a++) {
        period->array[a] = pti_skew_turn_of_array(&builder->pass, a, n_rows);
        if (is_carried(builder, a) && !builder->builder.failed)
            carry_image(builder, a);
    }
    forget_done(builder);
}

void pti_skew_turn_end(pti_skew_builder *builder) {
    pti_schedule *schedule = builder->schedule;
    pti_period *period = &schedule->period;
    int n_found = 0;
    period->n_ops = schedule->n_ops - period->first_op;
    period->n_placements = schedule->n_placements - period->first_placement;
    period->n_kernels = schedule->n_launches * builder->turns.n;
    for (int a = 0; a < pti_skew_n_arrays(builder) && !builder->builder.failed; a++) {
        if (!is_carried(builder, a))
            continue;
        period->carried[n_found++].left = builder->image[a].placement;
        place_moved(builder, a, builder->turns.times - 1);
    }
    period->times = builder->turns.times;
    builder->n_unlisted = pti_slabs_unlisted(&builder->turns);
    builder->part[0] = builder->turns.first + builder->turns.n * builder->turns.times;
    builder->part[1] = INT64_MAX;
    forget_done(builder);
}
