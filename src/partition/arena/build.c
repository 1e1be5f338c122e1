#include "partition/arena/build.h"

#include "access/pieces/shear.h"
#include "access/pieces/split.h"
#include "access/set/overlapping_copy.h"
#include "base/checked.h"
#include "partition/arena/arena.h"
#include "partition/arena/building.h"
#include "partition/arena/turn.h"
#include "partition/arena/upload_choice.h"

#include <stdlib.h>
#include <string.h>

typedef pti_piece_state state;
typedef pti_building build;

/** Return what is known of an operand's piece that the superblock at hand uses. */
static state *state_of(build *of, int operand) {
    bool is_own = of->arena.partition->has_own_piece[operand];
    return &of->state[operand * of->n_strips + (is_own ? of->strip : 0)];
}

static const state *piece_of(const build *of, int operand) {
    return state_of((build *)of, operand);
}

/** Return what is known of an operand as a whole. */
static state *whole_of(build *of, int operand) {
    return &of->state[pti_operand_combined(of->arena.instance, operand) * of->n_strips];
}

static const pti_placement *current_placement(const build *of, int operand) {
    int64_t placement = piece_of(of, operand)->placement;
    return placement < 0 ? NULL : &of->builder.schedule->placement[placement];
}

/** Return whether a superblock finds its piece of an operand in place, in memory that it may go on
 * using.
 */
static bool piece_stays(const build *of, int operand, int64_t superblock,
                        const polytile_domain *hull) {
    const state *at = piece_of(of, operand);
    if (at->placement < 0 || !pti_box_equals(&at->hull, hull))
        return false;
    if (pti_arena_has_cells(&of->arena, operand))
        return true;
    return superblock % of->arena.partition->n_buffers == at->cell &&
           current_placement(of, operand)->offset_bytes == of->arena.next_offset[operand];
}

static int64_t piece_box_bytes(const build *of, int operand, const polytile_domain *box) {
    return pti_box_count(box) * of->arena.instance->operand[operand].element_bytes;
}

static int64_t emit_op(build *of, pti_op_kind kind, int operand, int64_t superblock,
                       int64_t placement, const polytile_domain *box, const pti_last *waits) {
    pti_op op = {.kind = kind,
                 .superblock = superblock,
                 .placement = placement,
                 .source_placement = -1,
                 .bytes = piece_box_bytes(of, operand, box),
                 .box = *box};
    return pti_builder_add(&of->builder, &op, waits);
}

/** Add to what was downloaded, which may be said to be more than it is: that costs a wait. */
static void gather_downloaded(pti_boxes *downloaded, const polytile_domain *box) {
    enum { MOST_BOXES = 256 };
    pti_boxes_gather(downloaded, box);
    if (downloaded->n_boxes <= MOST_BOXES)
        return;
    polytile_domain around = pti_boxes_hull(downloaded);
    pti_boxes_assign(downloaded, &around);
}

/** Download what is newer than the host's copy, and note it, since later uploads may need it. */
static void flush_piece(build *of, int operand, state *at, int64_t superblock) {
    state *whole = whole_of(of, operand);
    bool comes_back =
        of->arena.instance->operand[operand].reads || of->arena.instance->operand[operand].fresh;
    for (int k = 0; k < at->dirty.n_boxes; k++) {
        int64_t op = emit_op(of, PTI_DOWNLOAD, operand, superblock, at->placement,
                             &at->dirty.box[k], &at->writers);
        pti_last_note(&of->arena.operand_cells[operand][at->cell].users, PTI_DOWNLOAD, op);
        if (!comes_back)
            continue;
        gather_downloaded(&whole->downloaded, &at->dirty.box[k]);
    }
    pti_boxes_clear(&at->dirty);
}

static void flush_operand(build *of, int operand, int64_t superblock) {
    flush_piece(of, operand, state_of(of, operand), superblock);
}

/** Let an operand's pieces give up elements into which a superblock combines through another
 * operand of the same array. */
static void give_up(build *of, int operand, const polytile_domain *box, int64_t superblock) {
    for (int s = 0; s < of->n_strips; s++) {
        state *at = &of->state[operand * of->n_strips + s];
        if (pti_boxes_meet(&at->dirty, box))
            flush_piece(of, operand, at, superblock);
        pti_boxes_subtract(&at->valid, box);
    }
}

/** Let a superblock find the newest of what it combines into through an operand on the host, as far
 * as other operands of the array have it. */
static void settle_others(build *of, int operand, int64_t superblock,
                          const polytile_domain *threads) {
    const pti_instance *instance = of->arena.instance;
    polytile_domain hull;
    if (instance->n_further == 0 || !instance->operand[operand].reduces ||
        !pti_footprint_find_hull(instance, operand, PTI_TOUCHES, threads, &hull))
        return;
    const int array = pti_operand_combined(instance, operand);
    for (int o = 0; o < instance->n_operands; o++)
        if (o != operand && pti_operand_combined(instance, o) == array)
            give_up(of, o, &hull, superblock);
}

/** Take a cell for a new piece: the operand's next one, or the superblock's region. */
static void take_cell(build *of, int operand, int64_t superblock, const polytile_domain *hull) {
    state *at = state_of(of, operand);
    at->cell = pti_arena_next_cell(&of->arena, operand, superblock, at->cell);
    pti_placement placement = {
        .operand = pti_operand_combined(of->arena.instance, operand),
        .offset_bytes = pti_arena_offset(&of->arena, operand, at->cell),
        .layout = pti_memory_layout_of(hull, of->arena.instance->operand[operand].element_bytes)};
    at->placement = pti_builder_place(&of->builder, &placement);
    at->hull = *hull;
    at->writers = pti_last_none();
    at->before = of->arena.operand_cells[operand][at->cell].users;
    pti_boxes_clear(&at->valid);
}

static void write_in_cell(build *of, pti_op_kind kind, int operand, int64_t superblock,
                          const polytile_domain *box, const pti_last *waits) {
    state *at = state_of(of, operand);
    int64_t op = emit_op(of, kind, operand, superblock, at->placement, box, waits);
    pti_last_note(&at->writers, kind, op);
    pti_last_note(&of->arena.operand_cells[operand][at->cell].users, kind, op);
    pti_boxes_append(&at->valid, box);
}

/** Wait for the last download of what an upload takes: those before it are done by then. One that
 * is long past is not looked for: any that came after it, and is long past too, is as good. */
static void await_download(const build *of, int operand, const polytile_domain *box,
                           pti_last *waits) {
    enum { LONG_PAST_OPS = 512 };
    const pti_schedule *schedule = of->builder.schedule;
    const int array = pti_operand_combined(of->arena.instance, operand);
    pti_last last = pti_last_none();
    bool found = false;
    for (int64_t k = schedule->n_ops - 1; k >= 0 && !found; k--) {
        const pti_op *op = &schedule->op[k];
        polytile_domain common;
        found = op->kind == PTI_DOWNLOAD && schedule->placement[op->placement].operand == array &&
                (k < schedule->n_ops - LONG_PAST_OPS || pti_box_intersect(&op->box, box, &common));
        if (found)
            pti_last_note(&last, PTI_DOWNLOAD, k);
    }
    pti_last_join(waits, &last);
}

static void upload_boxes(build *of, int operand, int64_t superblock, const pti_boxes *boxes) {
    const state *at = state_of(of, operand);
    const state *whole = whole_of(of, operand);
    for (int k = 0; k < boxes->n_boxes; k++) {
        pti_last waits = at->before;
        pti_beside_see(&of->beside, of->builder.schedule);
        pti_beside_join(&of->beside, of->builder.schedule, &waits,
                        &of->arena.operand_cells[operand][at->cell].users);
        if (pti_boxes_meet(&whole->downloaded, &boxes->box[k]))
            await_download(of, operand, &boxes->box[k], &waits);
        write_in_cell(of, PTI_UPLOAD, operand, superblock, &boxes->box[k], &waits);
    }
}

/** Elements that no superblock has combined into yet get the identity; the others come back from
 * the host. */
static void begin_cell_reduction(build *of, int operand, int64_t superblock) {
    const state *at = state_of(of, operand);
    state *whole = whole_of(of, operand);
    pti_upload_split_combined(&of->needed, &whole->initialised, &of->rest);
    for (int k = 0; k < of->needed.n_boxes; k++) {
        pti_last waits = of->arena.operand_cells[operand][at->cell].users;
        write_in_cell(of, PTI_FILL, operand, superblock, &of->needed.box[k], &waits);
        pti_boxes_gather(&whole->initialised, &of->needed.box[k]);
    }
    upload_boxes(of, operand, superblock, &of->rest);
}

/** Return whether elements move along their own memory all in one way, or to where none of them
 * was. */
static bool can_move(const pti_placement *from, const pti_placement *to,
                     const polytile_domain *box) {
    pti_overlapping_copy slices;
    bool apart = false;
    for (int d = 0; d < box->n_dims; d++) {
        int64_t relocation = to->layout.hull.range[d].lo - from->layout.hull.range[d].lo;
        if (from->layout.stride_bytes[d] != to->layout.stride_bytes[d] ||
            from->layout.hull.range[d].step != to->layout.hull.range[d].step)
            return false;
        apart |= pti_abs(relocation) > box->range[d].hi - box->range[d].lo;
    }
    return apart || pti_overlapping_begin(&from->layout, &to->layout, box, &slices);
}

/** Elements of the piece before that the new piece needs too; within one cell only if a single move
 * takes them. */
static void copy_shared(build *of, int operand, int64_t superblock, int64_t from, int from_cell,
                        pti_boxes *shared) {
    state *at = state_of(of, operand);
    const pti_placement *source = &of->builder.schedule->placement[from];
    bool same_memory = source->offset_bytes == current_placement(of, operand)->offset_bytes;
    pti_boxes_merge(shared);
    if (same_memory && (shared->n_boxes != 1 ||
                        !can_move(source, current_placement(of, operand), &shared->box[0])))
        return;
    for (int k = 0; k < shared->n_boxes; k++) {
        pti_last waits = of->arena.operand_cells[operand][at->cell].users;
        write_in_cell(of, PTI_COPY, operand, superblock, &shared->box[k], &waits);
        if (of->builder.failed)
            return;
        int64_t op = of->builder.schedule->n_ops - 1;
        of->builder.schedule->op[op].source_placement = from;
        pti_last_note(&of->arena.operand_cells[operand][from_cell].users, PTI_COPY, op);
        pti_boxes_subtract(&of->needed, &shared->box[k]);
    }
}

/** Return whether a new piece of an operand extends the one before, in the same memory; no image
 * between launches does. */
static bool extends_piece(const build *of, int operand, const polytile_domain *hull) {
    const pti_placement *before = current_placement(of, operand);
    bool extends = of->arena.instance->piece_alignment_bytes == 0 &&
                   before->offset_bytes == of->arena.next_offset[operand] &&
                   pti_box_contains(hull, &before->layout.hull);
    for (int d = 0; d < hull->n_dims; d++)
        extends = extends && hull->range[d].lo == before->layout.hull.range[d].lo;
    return extends;
}

/** Return whether a new piece of an operand can take over elements of the one before: that must
 * outlive the move, and never change. */
static bool may_copy(const build *of, int operand, const polytile_domain *hull) {
    const pti_operand *is = &of->arena.instance->operand[operand];
    return piece_of(of, operand)->placement >= 0 && !is->writes &&
           (pti_arena_has_cells(&of->arena, operand) || of->arena.partition->n_buffers > 1 ||
            extends_piece(of, operand, hull));
}

/** Return whether a piece may be filled with more than it needs: what lies between is on the host
 * as it is on the device, since it is never written. */
static bool may_upload_around(const build *of, int operand) {
    return of->state[operand * of->n_strips].may_upload_around;
}

static bool find_whether_around(const pti_instance *instance, int operand) {
    return !instance->operand[operand].writes &&
           !pti_operand_has_writer_beside(instance, operand) &&
           !pti_operand_is_ragged(instance, &instance->operand[operand]);
}

static bool hull_is_surely_faster(const build *of, int operand, const polytile_domain *hull,
                                  const polytile_domain *threads) {
    const state *at = piece_of(of, operand);
    bool may_share = may_copy(of, operand, hull);
    return may_upload_around(of, operand) &&
           pti_upload_hull_is_surely_faster(of->link, of->arena.instance, operand, threads, hull,
                                            may_share ? &at->hull : NULL);
}

static bool one_upload_is_faster(build *of, int operand) {
    return may_upload_around(of, operand) &&
           pti_upload_around_is_faster(of->link, &of->arena.instance->operand[operand], &of->needed,
                                       &of->shared, &of->rest);
}

/** Let a superblock need one box, all of which is uploaded. */
static void need_one(build *of, const polytile_domain *box) {
    pti_boxes_clear(&of->shared);
    pti_boxes_assign(&of->needed, box);
}

/** Find what a superblock needs of a piece, and what of it a piece before has, as boxes. */
static void find_needed_boxes(build *of, int operand, bool new_piece, const polytile_domain *hull,
                              const polytile_domain *threads) {
    const state *at = piece_of(of, operand);
    const pti_operand *is = &of->arena.instance->operand[operand];
    pti_boxes_clear(&of->shared);
    pti_boxes_clear(&of->needed);
    if (!is->reads && !is->fresh)
        return;
    if (new_piece && hull_is_surely_faster(of, operand, hull, threads)) {
        need_one(of, hull);
        return;
    }
    pti_footprint_boxes(of->arena.instance, operand, is->fresh ? PTI_WRITES : PTI_READS, threads,
                        PTI_MAX_READ_BOXES, &of->needed);
    pti_pieces_add_met(of->arena.instance, operand, threads, PTI_MAX_READ_BOXES, &of->rest,
                       &of->needed);
    if (new_piece && may_copy(of, operand, hull))
        pti_boxes_intersect(&of->shared, &of->needed, &at->valid);
    if (new_piece && one_upload_is_faster(of, operand)) {
        polytile_domain around = pti_boxes_hull(&of->needed);
        need_one(of, &around);
    }
}

/** Have the piece of an operand on the device, with all that a superblock needs of it. */
static void bring_piece(build *of, int operand, int64_t superblock, const polytile_domain *hull,
                        const polytile_domain *threads) {
    state *at = state_of(of, operand);
    const pti_operand *is = &of->arena.instance->operand[operand];
    bool new_piece = !piece_stays(of, operand, superblock, hull);
    int64_t from = at->placement;
    int from_cell = at->cell;
    find_needed_boxes(of, operand, new_piece, hull, threads);
    if (new_piece)
        take_cell(of, operand, superblock, hull);
    if (!of->builder.failed && of->shared.n_boxes > 0)
        copy_shared(of, operand, superblock, from, from_cell, &of->shared);
    pti_boxes_subtract_all(&of->needed, &at->valid);
    if (is->fresh)
        begin_cell_reduction(of, operand, superblock);
    else
        upload_boxes(of, operand, superblock, &of->needed);
}

static void note_launch(build *of, int operand, int64_t launch, const polytile_domain *threads) {
    state *at = state_of(of, operand);
    const pti_stream on = pti_op_stream(&of->builder.schedule->op[launch]);
    pti_last_note_on(&of->arena.operand_cells[operand][at->cell].users, on, launch);
    if (!of->arena.instance->operand[operand].writes)
        return;
    pti_last_note_on(&at->writers, on, launch);
    pti_footprint_boxes(of->arena.instance, operand, PTI_WRITES, threads, PTI_MAX_WRITE_BOXES,
                        &of->needed);
    pti_boxes_unite(&at->dirty, &of->needed, pti_boxes_add);
    pti_boxes_unite(&at->valid, &of->needed, pti_boxes_add);
}

static void add_launch_op(build *of, int64_t superblock, const polytile_domain *threads) {
    pti_last waits = pti_last_none();
    int n_operands = of->arena.instance->n_operands;
    int64_t *placements = pti_schedule_placements(of->builder.schedule, 0, superblock);
    pti_beside_see(&of->beside, of->builder.schedule);
    for (int a = 0; a < n_operands; a++) {
        const state *at = state_of(of, a);
        placements[a] = at->placement;
        if (placements[a] < 0)
            continue;
        pti_last_join(&waits, &at->before);
        pti_beside_join(&of->beside, of->builder.schedule, &waits,
                        &of->arena.operand_cells[a][at->cell].users);
    }
    pti_op op = {.kind = PTI_LAUNCH,
                 .lane = pti_beside_lane(&of->beside, superblock),
                 .superblock = superblock,
                 .placement = -1,
                 .source_placement = -1,
                 .box = *threads};
    int64_t at = pti_builder_add(&of->builder, &op, &waits);
    for (int a = 0; at >= 0 && a < n_operands; a++) {
        if (placements[a] >= 0)
            note_launch(of, a, at, threads);
    }
}

static void drop_piece(build *of, int operand, int64_t superblock) {
    flush_operand(of, operand, superblock);
    state_of(of, operand)->placement = -1;
}

/** Return the boxes that bringing a piece goes through. */
static int64_t count_looks(build *of, int operand) {
    const state *at = state_of(of, operand), *whole = whole_of(of, operand);
    return PTI_LOOKS_A_BOX *
           ((int64_t)at->valid.n_boxes + whole->initialised.n_boxes + whole->downloaded.n_boxes);
}

static void add_superblock(build *of, int64_t superblock) {
    const polytile_domain *threads = &of->arena.partition->superblock[superblock];
    polytile_domain hull[PTI_MAX_OPERANDS];
    bool touched[PTI_MAX_OPERANDS];
    pti_arena_prepare(&of->arena, superblock);
    of->strip = pti_partition_strip(of->arena.partition, superblock);
    for (int a = 0; a < of->arena.instance->n_operands; a++) {
        touched[a] = pti_arena_find_piece(&of->arena, a, threads, &hull[a]);
        if (!touched[a])
            drop_piece(of, a, superblock - 1);
        else if (!piece_stays(of, a, superblock, &hull[a]))
            flush_operand(of, a, superblock - 1);
    }
    for (int a = 0; a < of->arena.instance->n_operands; a++)
        settle_others(of, a, superblock - 1, threads);
    for (int a = 0; a < of->arena.instance->n_operands; a++) {
        if (touched[a])
            bring_piece(of, a, superblock, &hull[a], threads);
        pti_builder_look(&of->builder, count_looks(of, a));
        if (of->builder.failed)
            return;
    }
    add_launch_op(of, superblock, threads);
}

static bool sets_failed(const build *of) {
    bool failed = of->needed.failed || of->shared.failed || of->rest.failed;
    for (int p = 0; p < of->arena.instance->n_operands * of->n_strips; p++) {
        const state *at = &of->state[p];
        failed |=
            at->valid.failed || at->dirty.failed || at->initialised.failed || at->downloaded.failed;
    }
    return failed;
}

static void free_sets(build *of) {
    pti_boxes_free(&of->needed);
    pti_boxes_free(&of->shared);
    pti_boxes_free(&of->rest);
    for (int p = 0; p < of->arena.instance->n_operands * of->n_strips; p++) {
        pti_boxes_free(&of->state[p].valid);
        pti_boxes_free(&of->state[p].dirty);
        pti_boxes_free(&of->state[p].initialised);
        pti_boxes_free(&of->state[p].downloaded);
    }
}

static void begin_states(build *of) {
    for (int p = 0; p < of->arena.instance->n_operands * of->n_strips; p++) {
        of->state[p].placement = -1;
        of->state[p].cell = -1;
        of->state[p].may_upload_around = find_whether_around(of->arena.instance, p / of->n_strips);
    }
}

static void add_all(build *of) {
    pti_schedule *schedule = of->builder.schedule;
    const pti_repeat *repeat = &of->arena.partition->repeat;
    pti_turn turn = {0};
    for (int64_t k = 0; k < of->arena.partition->n_superblocks && !of->builder.failed; k++) {
        if (repeat->times > 0 && k == repeat->first)
            pti_turn_begin(of, &turn);
        if (repeat->times > 0 && k == repeat->first + repeat->n)
            pti_turn_end(of, &turn);
        schedule->superblock[k] = of->arena.partition->superblock[k];
        add_superblock(of, k);
    }
    pti_turn_free(&turn);
    for (of->strip = 0; of->strip < of->n_strips; of->strip++)
        for (int a = 0; a < of->arena.instance->n_operands && !of->builder.failed; a++)
            drop_piece(of, a, of->arena.partition->n_superblocks - 1);
    pti_turn_forget_done(schedule);
}

/** All zero but the arena, which is long, and is filled in as it is divided; NULL when memory runs
 * out. */
static build *new_build(size_t n_states) {
    const size_t n_bytes = sizeof(build) + n_states * sizeof(state), arena_end = sizeof(pti_arena);
    build *of = malloc(n_bytes);
    if (of != NULL)
        memset((char *)of + arena_end, 0, n_bytes - arena_end);
    return of;
}

polytile_status pti_schedule_build(const pti_instance *instance, const pti_partition *partition,
                                   const polytile_link *link, int64_t limit_bytes,
                                   int64_t *need_bytes, pti_schedule **schedule) {
    *schedule = NULL;
    int n_strips = (int)pti_max(partition->n_strips, 1);
    size_t n_states = (size_t)instance->n_operands * (size_t)n_strips;
    build *of = new_build(n_states);
    if (of == NULL)
        return POLYTILE_NO_MEMORY;
    of->n_strips = n_strips;
    of->link = link;
    polytile_status status = POLYTILE_NO_MEMORY;
    bool fits = pti_arena_divide(&of->arena, instance, partition, limit_bytes);
    *need_bytes = of->arena.division.arena_bytes;
    if (!fits) {
        free(of);
        return POLYTILE_NO_FIT;
    }
    pti_builder_begin_one(&of->builder, instance, partition->n_superblocks);
    if (of->builder.schedule != NULL) {
        of->beside = pti_beside_begin(&of->builder, partition->n_lanes, 0);
        of->builder.schedule->limit_bytes = limit_bytes;
        of->builder.schedule->arena_bytes = of->arena.division.arena_bytes;
        begin_states(of);
        add_all(of);
        if (!of->builder.failed && !sets_failed(of)) {
            *schedule = of->builder.schedule;
            status = POLYTILE_OK;
        } else {
            status = pti_builder_status(&of->builder);
            pti_schedule_free(of->builder.schedule);
        }
    }
    free_sets(of);
    free(of);
    return status;
}
