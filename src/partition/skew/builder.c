#include "partition/skew/builder.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>

int pti_skew_n_arrays(const pti_skew_builder *of) {
    return of->chain->arrays->n_operands;
}

pti_skew_image pti_skew_image_at(int64_t offset_bytes, int64_t placement) {
    return (pti_skew_image){.offset_bytes = offset_bytes,
                            .placement = placement,
                            .users = pti_last_none(),
                            .before = pti_last_none(),
                            .newest = -1};
}

bool pti_skew_builder_pass(const pti_skew_builder *of, int number, pti_pass *pass) {
    int64_t n_per_pass = of->shape->n_per_pass, first = number * n_per_pass;
    return pti_pass_begin(of->chain, (int)first,
                          (int)pti_min(of->chain->n_launches, first + n_per_pass), pass);
}

/* The launches. */

/** Count the superblocks of each launch. Returns the most slabs of a pass, -1 when memory runs
 * out. */
static int64_t count_launch_superblocks(const pti_skew_builder *of, pti_schedule_launch *launch) {
    int64_t most_slabs = 0;
    for (int p = 0; p < of->shape->n_passes; p++) {
        pti_pass pass;
        bool has_begun = pti_skew_builder_pass(of, p, &pass);
        for (int l = pass.first; has_begun && l < pass.end; l++) {
            int64_t first, last;
            pti_pass_slabs_of(&pass, l, of->shape->slab, &first, &last);
            launch[l].call = of->chain->launch[l].call;
            launch[l].n_superblocks = last - first + 1;
        }
        if (has_begun)
            most_slabs = pti_max(most_slabs, pti_pass_n_slabs(&pass, of->shape->slab));
        pti_pass_end(&pass);
        if (!has_begun)
            return -1;
    }
    return most_slabs;
}

bool pti_skew_builder_begin(pti_skew_builder *of, int64_t *most_slabs) {
    int n_launches = of->chain->n_launches;
    pti_schedule_launch *launch = calloc((size_t)n_launches + 1, sizeof *launch);
    *most_slabs = launch == NULL ? -1 : count_launch_superblocks(of, launch);
    if (*most_slabs >= 0)
        pti_builder_begin(&of->builder, of->chain->arrays, n_launches, launch);
    free(launch);
    of->schedule = of->builder.schedule;
    for (int s = 0; s < PTI_N_STREAMS; s++)
        of->waited[s] = pti_last_none();
    of->computed = of->uploaded = of->ready = of->ahead = pti_last_none();
    return of->schedule != NULL && !of->builder.failed;
}

void pti_skew_builder_end(pti_skew_builder *of) {
    for (int a = 0; of->image != NULL && a < pti_skew_n_arrays(of); a++) {
        free(of->image[a].download);
        free(of->image[a].former);
    }
    free(of->image);
    free(of->ran[PTI_STREAM_COMPUTE]);
    free(of->ran[PTI_STREAM_CONCURRENT]);
    pti_skew_sets_free(&of->sets);
    pti_boxes_free(&of->reused);
}

/* Operations. */

int64_t pti_skew_superblock_at(const pti_skew_builder *of, int launch, int64_t k) {
    int64_t first, last;
    pti_pass_slabs_of(&of->pass, launch, of->shape->slab, &first, &last);
    return of->schedule->launch[launch].first_superblock +
           pti_min(pti_max(k - first, 0), last - first);
}

int64_t pti_skew_builder_add(pti_skew_builder *of, const pti_op *op, const pti_last *waits) {
    pti_stream on = pti_op_stream(op);
    pti_last left = pti_last_none();
    for (int s = 0; s < PTI_N_STREAMS; s++) {
        if (waits->op[s] > of->waited[on].op[s])
            left.op[s] = of->waited[on].op[s] = waits->op[s];
    }
    int64_t added = pti_builder_add(&of->builder, op, &left);
    if (op->kind == PTI_LAUNCH || op->kind == PTI_FILL)
        pti_last_note_on(&of->computed, on, added);
    if (op->kind != PTI_LAUNCH && op->kind != PTI_DOWNLOAD)
        pti_last_note_on(&of->uploaded, on, added);
    return added;
}

bool pti_skew_is_concurrent(const pti_skew_builder *of, int64_t k) {
    return of->shape->concurrent && k % 2 == 1;
}

/** Return whether an array has an image that launches of the pass may use. */
static bool is_here(const pti_skew_builder *of, int array) {
    return of->chain->axis[array] == PTI_AXIS_WHOLE || of->pass.band[array].passes;
}

int64_t pti_skew_builder_launch(pti_skew_builder *of, int launch, int64_t k) {
    const pti_cut_launch *cut = &of->chain->launch[launch];
    pti_op op = {.kind = PTI_LAUNCH,
                 .concurrent = pti_skew_is_concurrent(of, k),
                 .launch = launch,
                 .placement = -1,
                 .source_placement = -1};
    if (!pti_pass_threads(&of->pass, launch, of->shape->slab, k, k, &op.box))
        return -1;
    pti_last all = of->ready;
    pti_last_join(&all, &of->ahead);
    op.superblock = pti_skew_superblock_at(of, launch, k);
    int64_t *placement = pti_schedule_placements(of->schedule, launch, op.superblock);
    of->schedule->superblock[op.superblock] = op.box;
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        int array = cut->call.array[o];
        polytile_domain hull;
        if (!is_here(of, array) ||
            !pti_footprint_find_hull(cut->call.instance, o, PTI_TOUCHES, &op.box, &hull))
            continue;
        placement[o] = of->image[array].placement;
        pti_last_join(&all, &of->image[array].before);
    }
    int64_t added = pti_skew_builder_add(of, &op, &all);
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        pti_skew_image *along = &of->image[cut->call.array[o]];
        if (placement[o] < 0)
            continue;
        pti_last_note_on(&along->users, pti_op_stream(&op), added);
        along->is_filled = along->is_filled || cut->call.instance->operand[o].writes;
    }
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

bool pti_skew_concurrent_begin(pti_skew_builder *of) {
    int64_t **one = &of->ran[PTI_STREAM_COMPUTE], **other = &of->ran[PTI_STREAM_CONCURRENT];
    *one = new_last_operations(of->chain->n_launches);
    *other = new_last_operations(of->chain->n_launches);
    return *one != NULL && *other != NULL;
}

/** Let the current slab's next launches follow some launches of the slab before, on the other
 * stream; units are waited for as a whole. Returns the first launch that does not. */
static int wait_for_launches(pti_skew_builder *of, pti_stream other, int unit) {
    const int first = of->pass.unit[unit].first;
    int end = first;
    for (; unit < of->pass.n_units && end < first + LAUNCHES_PER_WAIT; unit++)
        end = of->pass.unit[unit].first + of->pass.unit[unit].n_launches;
    for (int l = first; l < end; l++)
        of->ahead.op[other] = pti_max(of->ahead.op[other], of->ran[other][l]);
    return end;
}

/** Let launches of a slab, whose operations from one on were added, run as one. */
static void tile_unit(pti_skew_builder *of, const pti_tiled_unit *unit, int64_t k,
                      int64_t first_op) {
    const int last = unit->first + unit->n_launches - 1;
    pti_schedule *schedule = of->schedule;
    polytile_domain own;
    if (schedule->n_ops == first_op)
        return;
    if (!pti_pass_threads(&of->pass, last, of->shape->slab, k, k, &own))
        own = pti_box_empty(own.n_dims);
    pti_tiles made = pti_tiled_tiles(of->chain, unit, of->shape->slab, &own);
    made.first_op = first_op;
    made.n_ops = schedule->n_ops - first_op;
    if (PTI_RESIZE(schedule->tiles, schedule->n_tiles + 1))
        schedule->tiles[schedule->n_tiles++] = made;
    else
        of->builder.failed = true;
}

static void run_unit(pti_skew_builder *of, const pti_tiled_unit *unit, int64_t k) {
    const pti_stream on =
        pti_skew_is_concurrent(of, k) ? PTI_STREAM_CONCURRENT : PTI_STREAM_COMPUTE;
    const int64_t first_op = of->schedule->n_ops;
    for (int l = unit->first; l < unit->first + unit->n_launches; l++)
        of->ran[on][l] = pti_max(of->ran[on][l], pti_skew_builder_launch(of, l, k));
    if (unit->n_launches > 1)
        tile_unit(of, unit, k, first_op);
}

void pti_skew_run_launches(pti_skew_builder *of, int64_t k) {
    const pti_stream other =
        pti_skew_is_concurrent(of, k) ? PTI_STREAM_COMPUTE : PTI_STREAM_CONCURRENT;
    int waits_from = of->pass.first;
    of->ahead = pti_last_none();
    for (int u = 0; u < of->pass.n_units; u++) {
        if (of->pass.unit[u].first == waits_from)
            waits_from = wait_for_launches(of, other, u);
        run_unit(of, &of->pass.unit[u], k);
    }
}
