#include "partition/skew/skew.h"

#include "base/checked.h"
#include "partition/skew/builder.h"
#include "partition/skew/folded.h"
#include "partition/skew/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool has_threads(const pti_skew_builder *of, int launch, int64_t k) {
    polytile_domain threads;
    return pti_pass_threads(&of->pass, launch, of->shape->slab, k, k, &threads);
}

/** Return the first launch with threads in a slab, or the first of the pass. */
static int first_launch(const pti_skew_builder *of, int64_t k) {
    for (int l = of->pass.first; l < of->pass.end; l++) {
        if (has_threads(of, l, k))
            return l;
    }
    return of->pass.first;
}

/** Return the last launch with threads in a slab, or the last of the pass. */
static int last_launch_of_slab(const pti_skew_builder *of, int64_t k) {
    for (int l = of->pass.end - 1; l >= of->pass.first; l--) {
        if (has_threads(of, l, k))
            return l;
    }
    return of->pass.end - 1;
}

/* Moves. */

/** An operation that moves a box of an array for a slab. */
typedef struct move {
    pti_op_kind kind;
    int array;
    int launch;
    int64_t k;
    int64_t source; /* of a copy: the placement; else -1 */
} move;

static int64_t add_move(pti_skew_builder *of, const move *made, const polytile_domain *box,
                        const pti_last *waits) {
    pti_skew_image *along = &of->image[made->array];
    pti_op op = {.kind = made->kind,
                 .concurrent = made->kind == PTI_FILL && pti_skew_is_concurrent(of, made->k),
                 .launch = made->launch,
                 .superblock = pti_skew_superblock_at(of, made->launch, made->k),
                 .placement = along->placement,
                 .source_placement = made->source,
                 .bytes =
                     pti_box_count(box) * of->chain->arrays->operand[made->array].element_bytes,
                 .box = *box};
    pti_last all = *waits;
    pti_last_join(&all, &along->before);
    int64_t added = pti_skew_builder_add(of, &op, &all);
    pti_last_note_on(&along->users, pti_op_stream(&op), added);
    along->is_filled = true;
    return added;
}

/** Clip a set to some rows of an array, into the reused set. */
static void find_rows(pti_skew_builder *of, const pti_boxes *set, int array, polytile_range rows) {
    polytile_domain clip = of->chain->arrays->operand[array].domain;
    clip.range[of->chain->axis[array]] = pti_folded_rows(of->chain, array, rows);
    pti_boxes_clear(&of->reused);
    if (rows.lo > rows.hi)
        return;
    pti_boxes_copy(&of->reused, set);
    pti_boxes_clip(&of->reused, &clip);
}

/** Return the previous pass' download of rows up to this one. */
static int64_t download_of(const pti_skew_builder *of, const pti_skew_image *along,
                           int64_t last_row) {
    if (along->n_former_slabs == 0)
        return -1;
    int64_t beyond = pti_max(0, last_row - along->former_row);
    int64_t k = pti_min(pti_ceil_div(beyond, of->shape->slab), along->n_former_slabs - 1);
    return along->former[k];
}

static void bring_boxes(pti_skew_builder *of, const move *made, const pti_boxes *set,
                        polytile_range rows) {
    const pti_skew_image *along = &of->image[made->array];
    find_rows(of, set, made->array, rows);
    for (int b = 0; b < of->reused.n_boxes; b++) {
        pti_last waits = pti_last_none();
        if (made->kind == PTI_UPLOAD)
            pti_last_note(&waits, PTI_DOWNLOAD, download_of(of, along, rows.hi));
        add_move(of, made, &of->reused.box[b], &waits);
    }
}

/** Return the first row that slab k may touch, in an array without ends. */
static int64_t first_row(const pti_skew_builder *of, int array, int64_t k) {
    return of->pass.begin + k * of->shape->slab + of->pass.band[array].lo;
}

/** Return the rows of the image for the lap that begins with slab k: those of its slabs, and unless
 * the array is still those that the slab before downloads, and those that come for the next slab.
 * All images of a pass are equally long. */
static polytile_range image_rows(const pti_skew_builder *of, int array, int64_t k) {
    const pti_band *band = &of->pass.band[array];
    const polytile_range *all = &band->hull.range[of->chain->axis[array]];
    int64_t n_rows = pti_skew_image_rows(of->shape->slab, of->shape->n_per_lap, band->hi - band->lo,
                                         of->image[array].is_still);
    n_rows = pti_min(n_rows, all->hi - all->lo + 1);
    int64_t first = first_row(of, array, of->image[array].is_still ? k : k - 1);
    int64_t lo = pti_max(all->lo, pti_min(first, all->hi - n_rows + 1));
    return (polytile_range){lo, lo + n_rows - 1, 1};
}

/** Make an array's memory the image of some rows. */
static void place_image(pti_skew_builder *of, int array, polytile_range rows) {
    pti_skew_image *along = &of->image[array];
    polytile_domain hull = of->pass.band[array].hull;
    hull.range[of->chain->axis[array]] = pti_folded_rows(of->chain, array, rows);
    pti_placement placement = {
        .operand = array,
        .offset_bytes = along->offset_bytes,
        .layout = pti_memory_layout_of(&hull, of->chain->arrays->operand[array].element_bytes)};
    along->rows = rows;
    along->before = along->users;
    along->is_filled = false;
    along->placement = pti_builder_place(&of->builder, &placement);
}

/** Return the rows that slab k is the first to touch. */
static polytile_range new_rows(const pti_skew_builder *of, int array, int64_t k) {
    polytile_range rows = pti_pass_rows(&of->pass, array, of->shape->slab, k, k);
    if (k > 0) {
        polytile_range before = pti_pass_rows(&of->pass, array, of->shape->slab, k - 1, k - 1);
        rows.lo = pti_max(rows.lo, before.hi + 1);
    }
    return rows;
}

typedef void array_mover(pti_skew_builder *of, int array, int64_t k);

/** Move elements of all arrays of which a band passes. */
static void move_arrays(pti_skew_builder *of, int64_t k, array_mover *move_array) {
    for (int a = 0; a < pti_skew_n_arrays(of); a++)
        if (of->pass.band[a].passes)
            move_array(of, a, k);
}

/** Upload what slab k is the first to touch. */
static void upload_array(pti_skew_builder *of, int array, int64_t k) {
    const pti_pass_sets *sets = pti_skew_sets_of(&of->sets, of->number, array);
    polytile_range rows = new_rows(of, array, k);
    move made = {PTI_UPLOAD, array, first_launch(of, k), k, -1};
    bring_boxes(of, &made, &sets->exposed, rows);
    made.kind = PTI_FILL;
    bring_boxes(of, &made, &sets->filled, rows);
}

/** Copy what the next image needs to its beginning, before slab k runs. */
static void copy_image_to_beginning(pti_skew_builder *of, int array, int64_t k) {
    pti_skew_image *along = &of->image[array];
    polytile_range from = along->rows, rows = image_rows(of, array, k);
    move made = {PTI_COPY, array, first_launch(of, k), k, along->placement};
    pti_last waits = pti_last_none();
    polytile_domain box = of->pass.band[array].hull;
    bool is_filled = along->is_filled;
    if (rows.lo == from.lo)
        return;
    place_image(of, array, rows);
    if (!is_filled)
        return;
    rows.hi = pti_min(from.hi, pti_pass_rows(&of->pass, array, of->shape->slab, k, k).hi);
    if (rows.lo > rows.hi)
        return;
    box.range[of->chain->axis[array]] = pti_folded_rows(of->chain, array, rows);
    add_move(of, &made, &box, &waits);
    along->before = along->users;
}

/* Downloads. */

/** Return the rows that no slab after slab k touches. */
static polytile_range last_rows(const pti_skew_builder *of, int array, int64_t k) {
    polytile_range rows = pti_pass_rows(&of->pass, array, of->shape->slab, k, k);
    if (k + 1 < of->n_slabs)
        rows.hi = pti_pass_rows(&of->pass, array, of->shape->slab, k + 1, k + 1).lo - 1;
    else
        rows.hi = of->pass.band[array].hull.range[of->chain->axis[array]].hi;
    return rows;
}

/** Download what no slab after slab k touches. */
static void download_array(pti_skew_builder *of, int array, int64_t k) {
    pti_skew_image *along = &of->image[array];
    move made = {PTI_DOWNLOAD, array, last_launch_of_slab(of, k), k, -1};
    pti_last waits = of->computed;
    pti_last_join(&waits, &of->ready);
    find_rows(of, &pti_skew_sets_of(&of->sets, of->number, array)->live, array,
              last_rows(of, array, k));
    along->download[k] = k == 0 ? along->newest : along->download[k - 1];
    for (int b = 0; b < of->reused.n_boxes; b++)
        along->download[k] = add_move(of, &made, &of->reused.box[b], &waits);
}

/** Run slab k; meanwhile upload for the next, and download what the former was the last to
 * touch. */
static void run_slab(pti_skew_builder *of, int64_t k) {
    if (k > 0 && k % of->shape->n_per_lap == 0) {
        move_arrays(of, k, copy_image_to_beginning);
        of->ready = of->uploaded;
    }
    if (k > 0)
        move_arrays(of, k - 1, download_array);
    of->ready = of->uploaded;
    if (k + 1 < of->n_slabs)
        move_arrays(of, k + 1, upload_array);
    pti_skew_run_launches(of, k);
}

/* Passes. */

/** Keep this pass' downloads for the next pass. */
static void turn_downloads(pti_skew_builder *of) {
    for (int a = 0; a < pti_skew_n_arrays(of); a++) {
        pti_skew_image *along = &of->image[a];
        int64_t *spare = along->former;
        if (!of->pass.band[a].passes)
            continue;
        along->former = along->download;
        along->download = spare;
        along->newest = along->former[of->n_slabs - 1];
        along->n_former_slabs = of->n_slabs;
        along->former_row = of->pass.begin + of->shape->slab + of->pass.band[a].lo - 1;
    }
}

static void run_pass(pti_skew_builder *of, int number) {
    of->number = number;
    if (!pti_skew_builder_pass(of, number, &of->pass)) {
        of->builder.failed = true;
        return;
    }
    of->n_slabs = pti_pass_n_slabs(&of->pass, of->shape->slab);
    for (int a = 0; a < pti_skew_n_arrays(of); a++) {
        if (of->pass.band[a].passes)
            place_image(of, a, image_rows(of, a, 0));
    }
    move_arrays(of, 0, upload_array);
    for (int64_t k = 0; k < of->n_slabs && !of->builder.failed; k++)
        run_slab(of, k);
    move_arrays(of, of->n_slabs - 1, download_array);
    turn_downloads(of);
    pti_pass_end(&of->pass);
}

/* Arrays that stay whole. */

static void move_whole(pti_skew_builder *of, int array, pti_op_kind kind, const pti_boxes *set) {
    pti_last waits = of->computed;
    pti_last_join(&waits, &of->uploaded);
    for (int b = 0; b < set->n_boxes; b++) {
        pti_op op = {.kind = kind,
                     .placement = of->image[array].placement,
                     .source_placement = -1,
                     .bytes = pti_box_count(&set->box[b]) *
                              of->chain->arrays->operand[array].element_bytes,
                     .box = set->box[b]};
        pti_skew_builder_add(of, &op, &waits);
    }
}

/** Upload a whole array once, for all launches that read it. */
static void upload_whole(pti_skew_builder *of, int array) {
    const pti_operand *is = &of->chain->arrays->operand[array];
    pti_skew_image *along = &of->image[array];
    pti_placement placement = {.operand = array,
                               .offset_bytes = along->offset_bytes,
                               .layout = pti_memory_layout_of(&is->domain, is->element_bytes)};
    along->placement = pti_builder_place(&of->builder, &placement);
    pti_skew_sets_find_whole(&of->sets, array, &of->reused);
    move_whole(of, array, PTI_UPLOAD, &of->reused);
    for (int p = 0; p < of->sets.n_passes; p++) {
        const pti_pass_sets *sets = pti_skew_sets_of(&of->sets, p, array);
        move_whole(of, array, PTI_FILL, &sets->filled);
        move_whole(of, array, PTI_DOWNLOAD, &sets->live);
    }
}

/* The whole. */

/** Place the arrays' memory; returns the end of the last. */
static int64_t place_lanes(pti_skew_builder *of, const pti_skew_need *needs) {
    int64_t end = 0;
    for (int a = 0; a < pti_skew_n_arrays(of); a++) {
        of->image[a] = pti_skew_image_at(end, -1);
        of->image[a].is_still = needs[a].is_still;
        end += pti_skew_image_bytes(&needs[a], of->shape->slab, of->shape->n_per_lap);
    }
    return end;
}

/** Set in the schedule what is unwritten before it, and dropped after it. */
static bool set_states(pti_skew_builder *of) {
    pti_schedule *schedule = of->schedule;
    int n_arrays = pti_skew_n_arrays(of);
    schedule->unwritten = calloc((size_t)n_arrays + 1, sizeof *schedule->unwritten);
    schedule->dropped = calloc((size_t)n_arrays + 1, sizeof *schedule->dropped);
    if (schedule->unwritten == NULL || schedule->dropped == NULL)
        return false;
    memcpy(schedule->dropped, of->request->dropped, (size_t)n_arrays * sizeof *schedule->dropped);
    bool failed = false;
    for (int a = 0; a < n_arrays && of->request->unwritten != NULL; a++) {
        pti_boxes_copy(&schedule->unwritten[a], &of->request->unwritten[a]);
        failed |= schedule->unwritten[a].failed;
    }
    return !failed;
}

static bool begin_lanes(pti_skew_builder *of, int64_t most_slabs) {
    pti_skew_need *needs = pti_skew_needs(of->chain, of->shape->n_per_pass);
    of->image = calloc((size_t)pti_skew_n_arrays(of) + 1, sizeof *of->image);
    bool has_begun = needs != NULL && of->image != NULL && pti_skew_concurrent_begin(of);
    if (has_begun)
        pti_skew_note_still(of->chain, &of->sets, needs);
    if (has_begun)
        of->schedule->arena_bytes = place_lanes(of, needs);
    for (int a = 0; a < pti_skew_n_arrays(of) && has_begun; a++) {
        of->image[a].download = calloc((size_t)most_slabs + 1, sizeof(int64_t));
        of->image[a].former = calloc((size_t)most_slabs + 1, sizeof(int64_t));
        has_begun = of->image[a].download != NULL && of->image[a].former != NULL;
    }
    free(needs);
    return has_begun;
}

static void run_passes(pti_skew_builder *of) {
    for (int a = 0; a < pti_skew_n_arrays(of); a++) {
        if (of->chain->axis[a] == PTI_AXIS_WHOLE)
            upload_whole(of, a);
    }
    for (int p = 0; p < of->shape->n_passes && !of->builder.failed; p++)
        run_pass(of, p);
}

pti_schedule *pti_skew_build(const pti_skew_request *request, const pti_skew_shape *shape) {
    pti_skew_builder of = {.request = request, .shape = shape, .chain = request->chain};
    int64_t most_slabs = 0;
    bool has_begun = pti_skew_builder_begin(&of, &most_slabs) && set_states(&of) &&
                     pti_skew_sets_find(request, shape->n_per_pass, INT_MAX, &of.sets) &&
                     begin_lanes(&of, most_slabs);
    if (has_begun)
        run_passes(&of);
    bool is_made = has_begun && !of.builder.failed && !of.reused.failed;
    if (is_made && request->chain->folded != NULL)
        is_made = pti_folded_finish(request->chain, of.schedule);
    pti_skew_builder_end(&of);
    if (!is_made)
        pti_schedule_free(of.schedule);
    else
        of.schedule->limit_bytes = request->arena_bytes;
    return is_made ? of.schedule : NULL;
}
