#include "partition/skew/skew.h"

#include "base/checked.h"
#include "partition/skew/builder.h"
#include "partition/skew/folded.h"
#include "partition/skew/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool has_threads(const pti_skew_builder *builder, int launch, int64_t k) {
    polytile_domain threads;
    return pti_pass_threads(&builder->pass, launch, builder->shape->slab, k, k, &threads);
}

/** Return the first launch with threads in a slab, or the first of the pass. */
static int first_launch(const pti_skew_builder *builder, int64_t k) {
    for (int l = builder->pass.first; l < builder->pass.end; l++) {
        if (has_threads(builder, l, k))
            return l;
    }
    return builder->pass.first;
}

/** Return the last launch with threads in a slab, or the last of the pass. */
static int last_launch_of_slab(const pti_skew_builder *builder, int64_t k) {
    for (int l = builder->pass.end - 1; l >= builder->pass.first; l--) {
        if (has_threads(builder, l, k))
            return l;
    }
    return builder->pass.end - 1;
}

/* Moves. */

/** An operation that moves a box of an array for a slab. */
typedef struct move {
    pti_op_kind kind;
    int array;
    int image; /* of the array, or its one aside */
    int launch;
    int64_t k;
    int64_t source; /* of a copy: the placement; else -1 */
} move;

/** Add the move of a box of an array's image, after what used that memory before. */
static int64_t add_move(pti_skew_builder *builder, const move *made, const polytile_domain *box,
                        const pti_last *waits) {
    pti_skew_image *along = &builder->image[made->image];
    pti_op op = {.kind = made->kind,
                 .lane = made->kind == PTI_FILL ? pti_skew_lane(builder, made->k) : 0,
                 .launch = made->launch,
                 .superblock = pti_skew_superblock_at(builder, made->launch, made->k),
                 .placement = along->placement,
                 .source_placement = made->source,
                 .bytes = pti_box_count(box) *
                          builder->chain->arrays->operand[made->array].element_bytes,
                 .box = *box};
    pti_last all = *waits;
    pti_last_join(&all, &along->before);
    int64_t added = pti_skew_builder_add(builder, &op, &all);
    pti_last_note_on(&along->users, pti_op_stream(&op), added);
    along->is_filled = true;
    return added;
}

/** Clip a set to some rows of an array, into the reused set. */
static void find_rows(pti_skew_builder *builder, const pti_boxes *set, int array,
                      polytile_range rows) {
    polytile_domain clip = builder->chain->arrays->operand[array].domain;
    clip.range[builder->chain->axis[array]] = pti_folded_rows(builder->chain, array, rows);
    pti_boxes_clear(&builder->reused);
    if (rows.lo > rows.hi)
        return;
    pti_boxes_copy(&builder->reused, set);
    pti_boxes_clip(&builder->reused, &clip);
}

/** Return the previous pass' download of rows up to this one. */
static int64_t download_of(const pti_skew_builder *builder, const pti_skew_image *along,
                           int64_t last_row) {
    if (along->n_former_slabs == 0)
        return -1;
    int64_t beyond = pti_max(0, last_row - along->former_row);
    int64_t k = pti_min(pti_ceil_div(beyond, builder->shape->slab), along->n_former_slabs - 1);
    return along->former[k];
}

static void bring_boxes(pti_skew_builder *builder, const move *made, const pti_boxes *set,
                        polytile_range rows) {
    const pti_skew_image *along = &builder->image[made->array];
    find_rows(builder, set, made->array, rows);
    for (int b = 0; b < builder->reused.n_boxes; b++) {
        pti_last waits = pti_last_none();
        if (made->kind == PTI_UPLOAD)
            pti_last_note(&waits, PTI_DOWNLOAD, download_of(builder, along, rows.hi));
        add_move(builder, made, &builder->reused.box[b], &waits);
    }
}

/** Return the first row that slab k may touch, in an array without ends. */
static int64_t first_row(const pti_skew_builder *builder, int array, int64_t k) {
    return builder->pass.begin + k * builder->shape->slab + builder->pass.band[array].lo;
}

/** Return the rows of the image for the lap that begins with slab k: those of its slabs, those that
 * the slab before downloads, and those that come for the next slab, as far as the array has such.
 * All images of a pass are equally long. */
static polytile_range image_rows(const pti_skew_builder *builder, int array, int64_t k) {
    const pti_band *band = &builder->pass.band[array];
    const polytile_range *all = &band->hull.range[builder->chain->axis[array]];
    const pti_skew_image *image = &builder->image[array];
    int64_t n_rows =
        pti_skew_image_rows(builder->shape->slab, builder->shape->n_per_lap, band->hi - band->lo,
                            pti_skew_n_beside(image->none_goes, image->none_comes));
    n_rows = pti_min(n_rows, all->hi - all->lo + 1);
    int64_t first = first_row(builder, array, image->none_goes ? k : k - 1);
    int64_t lo = pti_max(all->lo, pti_min(first, all->hi - n_rows + 1));
    return (polytile_range){lo, lo + n_rows - 1, 1};
}

/** Make memory of an array the image of some rows. */
static void place_rows(pti_skew_builder *builder, int array, int image, polytile_range rows) {
    pti_skew_image *along = &builder->image[image];
    polytile_domain hull = builder->pass.band[array].hull;
    hull.range[builder->chain->axis[array]] = pti_folded_rows(builder->chain, array, rows);
    pti_placement placement = {
        .operand = array,
        .offset_bytes = along->offset_bytes,
        .layout = pti_memory_layout_of(&hull, builder->chain->arrays->operand[array].element_bytes),
        .is_aside = image >= pti_skew_n_arrays(builder)};
    along->rows = rows;
    along->before = along->users;
    along->is_filled = false;
    along->placement = pti_builder_place(&builder->builder, &placement);
}

/** Return the image aside of an array in the pass; -1: it has none. */
static int image_aside_of(const pti_skew_builder *builder, int array) {
    for (int a = 0; a < builder->n_aside; a++)
        if (builder->aside[a] == array)
            return pti_skew_n_arrays(builder) + a;
    return -1;
}

/** The image aside has the same rows. */
static void place_image(pti_skew_builder *builder, int array, polytile_range rows) {
    const int aside = image_aside_of(builder, array);
    place_rows(builder, array, array, rows);
    if (aside >= 0)
        place_rows(builder, array, aside, rows);
}

/** Return the rows that slab k is the first to touch. */
static polytile_range new_rows(const pti_skew_builder *builder, int array, int64_t k) {
    polytile_range rows = pti_pass_rows(&builder->pass, array, builder->shape->slab, k, k);
    if (k > 0) {
        polytile_range before =
            pti_pass_rows(&builder->pass, array, builder->shape->slab, k - 1, k - 1);
        rows.lo = pti_max(rows.lo, before.hi + 1);
    }
    return rows;
}

typedef void array_mover(pti_skew_builder *builder, int array, int64_t k);

/** Move elements of all arrays of which a band passes. */
static void move_arrays(pti_skew_builder *builder, int64_t k, array_mover *move_array) {
    for (int a = 0; a < pti_skew_n_arrays(builder); a++)
        if (builder->pass.band[a].passes)
            move_array(builder, a, k);
}

/** Upload what slab k is the first to touch. */
static void upload_array(pti_skew_builder *builder, int array, int64_t k) {
    const pti_pass_sets *sets = pti_skew_sets_of(&builder->sets, builder->number, array);
    polytile_range rows = new_rows(builder, array, k);
    move made = {PTI_UPLOAD, array, array, first_launch(builder, k), k, -1};
    bring_boxes(builder, &made, &sets->exposed, rows);
    made.kind = PTI_FILL;
    bring_boxes(builder, &made, &sets->filled, rows);
}

/** Return which rows of an image to keep when it slides: those that slab k or a later one touches,
 * and those that slab k - 1 still downloads. Of an image aside, where nothing comes or goes: those
 * that earlier slabs stored and slab k touches. */
static polytile_range copied_rows(const pti_skew_builder *builder, int array, int image,
                                  polytile_range rows, int64_t k) {
    const int64_t slab = builder->shape->slab;
    const polytile_range touched = pti_pass_rows(&builder->pass, array, slab, k, k);
    if (image < pti_skew_n_arrays(builder))
        return (polytile_range){rows.lo, touched.hi, 1};
    return (polytile_range){pti_max(rows.lo, touched.lo),
                            pti_pass_rows(&builder->pass, array, slab, k - 1, k - 1).hi, 1};
}

/** Make memory of an array its image of other rows, and copy what was there of those that slab k or
 * one after it touches. */
static void slide_image(pti_skew_builder *builder, int array, int image, polytile_range rows,
                        int64_t k) {
    pti_skew_image *along = &builder->image[image];
    const polytile_range from = along->rows;
    move made = {PTI_COPY, array, image, first_launch(builder, k), k, along->placement};
    pti_last waits = pti_last_none();
    polytile_domain box = builder->pass.band[array].hull;
    bool is_filled = along->is_filled;
    place_rows(builder, array, image, rows);
    rows = copied_rows(builder, array, image, rows, k);
    rows.hi = pti_min(from.hi, rows.hi);
    if (!is_filled || rows.lo > rows.hi)
        return;
    box.range[builder->chain->axis[array]] = pti_folded_rows(builder->chain, array, rows);
    add_move(builder, &made, &box, &waits);
    along->before = along->users;
}

/** Copy what the next image needs to its beginning, before slab k runs. */
static void copy_image_to_beginning(pti_skew_builder *builder, int array, int64_t k) {
    const polytile_range rows = image_rows(builder, array, k);
    const int aside = image_aside_of(builder, array);
    if (rows.lo == builder->image[array].rows.lo)
        return;
    slide_image(builder, array, array, rows, k);
    if (aside >= 0)
        slide_image(builder, array, aside, rows, k);
}

/* Downloads. */

/** Return the rows that no slab after slab k touches. */
static polytile_range last_rows(const pti_skew_builder *builder, int array, int64_t k) {
    polytile_range rows = pti_pass_rows(&builder->pass, array, builder->shape->slab, k, k);
    if (k + 1 < builder->n_slabs)
        rows.hi = pti_pass_rows(&builder->pass, array, builder->shape->slab, k + 1, k + 1).lo - 1;
    else
        rows.hi = builder->pass.band[array].hull.range[builder->chain->axis[array]].hi;
    return rows;
}

/** Download what no slab after slab k touches. */
static void download_array(pti_skew_builder *builder, int array, int64_t k) {
    pti_skew_image *along = &builder->image[array];
    move made = {PTI_DOWNLOAD, array, array, last_launch_of_slab(builder, k), k, -1};
    pti_last waits = builder->computed;
    pti_last_join(&waits, &builder->ready);
    find_rows(builder, &pti_skew_sets_of(&builder->sets, builder->number, array)->live, array,
              last_rows(builder, array, k));
    for (int b = 0; b < builder->reused.n_boxes; b++)
        along->newest = add_move(builder, &made, &builder->reused.box[b], &waits);
    if (along->download != NULL)
        along->download[k] = along->newest;
}

/** Add the launches of slab k; beside them the upload for the next slab, and the download of what
 * the former one was the last to touch. */
static void add_slab(pti_skew_builder *builder, int64_t k) {
    if (k > 0 && k % builder->shape->n_per_lap == 0) {
        move_arrays(builder, k, copy_image_to_beginning);
        builder->ready = builder->uploaded;
    }
    if (k > 0)
        move_arrays(builder, k - 1, download_array);
    builder->ready = builder->uploaded;
    if (k + 1 < builder->n_slabs)
        move_arrays(builder, k + 1, upload_array);
    pti_skew_add_launches(builder, k);
}

/* Passes. */

/** Keep this pass' downloads for the next pass. */
static void turn_downloads(pti_skew_builder *builder) {
    for (int a = 0; a < pti_skew_n_arrays(builder); a++) {
        pti_skew_image *along = &builder->image[a];
        int64_t *spare = along->former;
        if (along->download == NULL || !builder->pass.band[a].passes)
            continue;
        along->former = along->download;
        along->download = spare;
        along->n_former_slabs = builder->n_slabs;
        along->former_row =
            builder->pass.begin + builder->shape->slab + builder->pass.band[a].lo - 1;
    }
}

static void add_slabs_of_pass(pti_skew_builder *builder, int number) {
    builder->number = number;
    if (!pti_skew_builder_pass(builder, number, &builder->pass)) {
        builder->builder.failed = true;
        return;
    }
    builder->n_slabs = pti_pass_n_slabs(&builder->pass, builder->shape->slab);
    builder->n_aside = pti_tiled_list_aside(builder->chain, builder->pass.unit,
                                            builder->pass.n_units, builder->aside);
    for (int a = 0; a < pti_skew_n_arrays(builder); a++) {
        if (builder->pass.band[a].passes)
            place_image(builder, a, image_rows(builder, a, 0));
    }
    move_arrays(builder, 0, upload_array);
    for (int64_t k = 0; k < builder->n_slabs && !builder->builder.failed; k++) {
        const pti_slab_turns *turns = &builder->turns;
        if (turns->times > 0 && k == turns->first)
            pti_skew_turn_begin(builder);
        add_slab(builder, k);
        if (turns->times > 0 && k + 1 == turns->first + turns->n) {
            pti_skew_turn_end(builder);
            k += pti_slabs_unlisted(turns);
        }
    }
    move_arrays(builder, builder->n_slabs - 1, download_array);
    turn_downloads(builder);
    pti_pass_end(&builder->pass);
}

/* Arrays that stay whole. */

static void move_whole(pti_skew_builder *builder, int array, pti_op_kind kind,
                       const pti_boxes *set) {
    pti_last waits = builder->computed;
    pti_last_join(&waits, &builder->uploaded);
    for (int b = 0; b < set->n_boxes; b++) {
        pti_op op = {.kind = kind,
                     .placement = builder->image[array].placement,
                     .source_placement = -1,
                     .bytes = pti_box_count(&set->box[b]) *
                              builder->chain->arrays->operand[array].element_bytes,
                     .box = set->box[b]};
        pti_skew_builder_add(builder, &op, &waits);
    }
}

/** Upload a whole array once, for all launches that read it. */
static void upload_whole(pti_skew_builder *builder, int array) {
    const pti_operand *is = &builder->chain->arrays->operand[array];
    pti_skew_image *along = &builder->image[array];
    pti_placement placement = {.operand = array,
                               .offset_bytes = along->offset_bytes,
                               .layout = pti_memory_layout_of(&is->domain, is->element_bytes)};
    along->placement = pti_builder_place(&builder->builder, &placement);
    pti_skew_sets_find_whole(&builder->sets, array, &builder->reused);
    move_whole(builder, array, PTI_UPLOAD, &builder->reused);
    for (int p = 0; p < builder->sets.n_passes; p++) {
        const pti_pass_sets *sets = pti_skew_sets_of(&builder->sets, p, array);
        move_whole(builder, array, PTI_FILL, &sets->filled);
        move_whole(builder, array, PTI_DOWNLOAD, &sets->live);
    }
}

/* The whole. */

/** Place the arrays' memory; returns the end of the last. */
static int64_t place_chain_images(pti_skew_builder *builder, const pti_skew_need *needs) {
    int64_t end = 0;
    for (int a = 0; a < pti_skew_n_images(builder->chain); a++) {
        builder->image[a] = pti_skew_image_at(end, -1);
        builder->image[a].none_goes = needs[a].none_goes;
        builder->image[a].none_comes = needs[a].none_comes;
        end += pti_skew_image_bytes(&needs[a], builder->shape->slab, builder->shape->n_per_lap);
    }
    return end;
}

/** Set in the schedule what is unwritten before it, and dropped after it. */
static bool set_states(pti_skew_builder *builder) {
    pti_schedule *schedule = builder->schedule;
    int n_arrays = pti_skew_n_arrays(builder);
    schedule->unwritten = calloc((size_t)n_arrays + 1, sizeof *schedule->unwritten);
    schedule->dropped = calloc((size_t)n_arrays + 1, sizeof *schedule->dropped);
    if (schedule->unwritten == NULL || schedule->dropped == NULL)
        return false;
    memcpy(schedule->dropped, builder->request->dropped,
           (size_t)n_arrays * sizeof *schedule->dropped);
    bool failed = false;
    for (int a = 0; a < n_arrays && builder->request->unwritten != NULL; a++) {
        pti_boxes_copy(&schedule->unwritten[a], &builder->request->unwritten[a]);
        failed |= schedule->unwritten[a].failed;
    }
    return !failed;
}

/** Make lists of the downloads of each slab, which the next pass waits for; a single pass, which
 * may have very many slabs, needs none. */
static bool list_downloads(pti_skew_builder *builder, int64_t most_slabs) {
    bool has_room = true;
    for (int a = 0; a < pti_skew_n_arrays(builder) && builder->shape->n_passes > 1; a++) {
        builder->image[a].download = calloc((size_t)most_slabs + 1, sizeof(int64_t));
        builder->image[a].former = calloc((size_t)most_slabs + 1, sizeof(int64_t));
        has_room =
            has_room && builder->image[a].download != NULL && builder->image[a].former != NULL;
    }
    return has_room;
}

static bool begin_images(pti_skew_builder *builder, int64_t most_slabs) {
    pti_skew_need *needs = pti_skew_needs(builder->chain, builder->shape->n_per_pass);
    builder->image = calloc((size_t)pti_skew_n_images(builder->chain) + 1, sizeof *builder->image);
    bool has_begun = needs != NULL && builder->image != NULL && pti_skew_concurrent_begin(builder);
    if (has_begun)
        pti_skew_note_still(builder->chain, &builder->sets, needs);
    if (has_begun)
        builder->schedule->arena_bytes = place_chain_images(builder, needs);
    free(needs);
    return has_begun && list_downloads(builder, most_slabs);
}

static void add_passes(pti_skew_builder *builder) {
    for (int a = 0; a < pti_skew_n_arrays(builder); a++) {
        if (builder->chain->axis[a] == PTI_AXIS_WHOLE)
            upload_whole(builder, a);
    }
    for (int p = 0; p < builder->shape->n_passes && !builder->builder.failed; p++)
        add_slabs_of_pass(builder, p);
}

/** Up to this number, superblocks are counted as if all were listed: a plan may have more. */
enum { FEW_SUPERBLOCKS = 1 << 19 };

/** Find the sets of all passes, and the turns of the only one. */
static bool find_sets(const pti_skew_request *request, const pti_skew_shape *shape,
                      pti_skew_sets *sets, pti_slab_turns *turns) {
    pti_pass pass;
    *turns = (pti_slab_turns){0};
    if (!pti_skew_sets_find(request, shape->n_per_pass, INT_MAX, sets))
        return false;
    if (shape->n_passes > 1 || request->turn_kernels == 0)
        return true;
    if (!pti_pass_begin(request->chain, 0, request->chain->n_launches, &pass))
        return false;
    *turns = pti_skew_turns_find(request, shape, &pass, sets);
    pti_pass_end(&pass);
    return true;
}

/** Find how many slabs are not listed; none if that is not known. */
static int64_t find_unlisted_slabs(const pti_skew_request *request, const pti_skew_shape *shape) {
    pti_skew_sets sets = {0};
    pti_slab_turns turns;
    find_sets(request, shape, &sets, &turns);
    pti_skew_sets_free(&sets);
    return pti_slabs_unlisted(&turns);
}

int64_t pti_skew_n_listed(const pti_skew_request *request, const pti_skew_shape *shape) {
    const pti_chain *chain = request->chain;
    int64_t sum = 0;
    for (int l = 0; l < chain->n_launches; l++) {
        const pti_cut_launch *cut = &chain->launch[l];
        const polytile_range *range = &cut->call.instance->threads.range[cut->index];
        sum = pti_add_saturated(sum, pti_ceil_div(range->hi - range->lo + 1, shape->slab));
    }
    return sum <= FEW_SUPERBLOCKS
               ? sum
               : sum - pti_mul_saturated(chain->n_launches, find_unlisted_slabs(request, shape));
}

pti_schedule *pti_skew_build(const pti_skew_request *request, const pti_skew_shape *shape) {
    pti_skew_builder builder = {.request = request, .shape = shape, .chain = request->chain};
    int64_t most_slabs = 0;
    bool has_begun = find_sets(request, shape, &builder.sets, &builder.turns) &&
                     pti_skew_builder_begin(&builder, &most_slabs) && set_states(&builder) &&
                     begin_images(&builder, most_slabs);
    if (has_begun)
        add_passes(&builder);
    bool is_made = has_begun && !builder.builder.failed && !builder.reused.failed;
    if (is_made && request->chain->folded != NULL)
        is_made = pti_folded_finish(request->chain, builder.schedule);
    pti_skew_builder_end(&builder);
    if (!is_made)
        pti_schedule_free(builder.schedule);
    else
        builder.schedule->limit_bytes = request->arena_bytes;
    return is_made ? builder.schedule : NULL;
}
