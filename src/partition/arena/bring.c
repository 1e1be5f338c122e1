#include "partition/arena/arena_builder.h"

#include "access/pieces/shear.h"
#include "access/set/overlapping_copy.h"
#include "base/checked.h"
#include "partition/arena/upload_choice.h"

/** Wait for the last download of what an upload takes: those before it are done by then. One that
 * is long past is not looked for: any that came after it, and is long past too, is as good. */
static void await_download(const pti_arena_builder *of, int operand, const polytile_domain *box,
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

static void upload_boxes(pti_arena_builder *of, int operand, int64_t superblock,
                         const pti_boxes *boxes) {
    const pti_piece_state *at = pti_arena_state_of(of, operand);
    const pti_arena_operand_state *whole = pti_arena_whole_of(of, operand);
    for (int k = 0; k < boxes->n_boxes; k++) {
        pti_last waits = at->before;
        pti_beside_see(&of->beside, of->builder.schedule);
        pti_beside_join(&of->beside, of->builder.schedule, &waits,
                        &of->arena.operand_cells[operand][at->cell].users);
        if (pti_boxes_meet(&whole->downloaded, &boxes->box[k]))
            await_download(of, operand, &boxes->box[k], &waits);
        pti_arena_write_in_cell(of, PTI_UPLOAD, operand, superblock, &boxes->box[k], &waits);
    }
}

/** Elements that no superblock has combined into yet get the identity; the others come back from
 * the host. */
static void begin_cell_reduction(pti_arena_builder *of, int operand, int64_t superblock) {
    const pti_piece_state *at = pti_arena_state_of(of, operand);
    pti_arena_operand_state *whole = pti_arena_whole_of(of, operand);
    pti_upload_split_combined(&of->needed, &whole->initialised, &of->rest);
    for (int k = 0; k < of->needed.n_boxes; k++) {
        pti_last waits = of->arena.operand_cells[operand][at->cell].users;
        pti_arena_write_in_cell(of, PTI_FILL, operand, superblock, &of->needed.box[k], &waits);
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
static void copy_shared(pti_arena_builder *of, int operand, int64_t superblock, int64_t from,
                        int from_cell, pti_boxes *shared) {
    pti_piece_state *at = pti_arena_state_of(of, operand);
    const pti_placement *source = &of->builder.schedule->placement[from];
    bool same_memory = source->offset_bytes == pti_arena_placement_of(of, operand)->offset_bytes;
    pti_boxes_merge(shared);
    if (same_memory && (shared->n_boxes != 1 ||
                        !can_move(source, pti_arena_placement_of(of, operand), &shared->box[0])))
        return;
    for (int k = 0; k < shared->n_boxes; k++) {
        pti_last waits = of->arena.operand_cells[operand][at->cell].users;
        pti_arena_write_in_cell(of, PTI_COPY, operand, superblock, &shared->box[k], &waits);
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
static bool extends_piece(const pti_arena_builder *of, int operand, const polytile_domain *hull) {
    const pti_placement *before = pti_arena_placement_of(of, operand);
    bool extends = of->arena.instance->piece_alignment_bytes == 0 &&
                   before->offset_bytes == of->arena.next_offset[operand] &&
                   pti_box_contains(hull, &before->layout.hull);
    for (int d = 0; d < hull->n_dims; d++)
        extends = extends && hull->range[d].lo == before->layout.hull.range[d].lo;
    return extends;
}

/** Return whether a new piece of an operand can take over elements of the one before: that must
 * outlive the move, and never change. */
static bool may_copy(const pti_arena_builder *of, int operand, const polytile_domain *hull) {
    const pti_operand *declared = &of->arena.instance->operand[operand];
    return pti_arena_state_of(of, operand)->placement >= 0 && !declared->writes &&
           (pti_arena_has_cells(&of->arena, operand) || of->arena.partition->n_buffers > 1 ||
            extends_piece(of, operand, hull));
}

bool pti_arena_may_upload_around(const pti_instance *instance, int operand) {
    return !instance->operand[operand].writes &&
           !pti_operand_has_writer_beside(instance, operand) &&
           !pti_operand_is_ragged(instance, &instance->operand[operand]);
}

static bool hull_is_surely_faster(const pti_arena_builder *of, int operand,
                                  const polytile_domain *hull, const polytile_domain *threads) {
    const pti_piece_state *at = pti_arena_state_of(of, operand);
    bool may_share = may_copy(of, operand, hull);
    return of->operand[operand].may_upload_around &&
           pti_upload_hull_is_surely_faster(of->link, of->arena.instance, operand, threads, hull,
                                            may_share ? &at->hull : NULL);
}

static bool one_upload_is_faster(pti_arena_builder *of, int operand) {
    return of->operand[operand].may_upload_around &&
           pti_upload_around_is_faster(of->link, &of->arena.instance->operand[operand], &of->needed,
                                       &of->shared, &of->rest);
}

/** Let a superblock need one box, all of which is uploaded. */
static void need_one(pti_arena_builder *of, const polytile_domain *box) {
    pti_boxes_clear(&of->shared);
    pti_boxes_assign(&of->needed, box);
}

/** Find what a superblock needs of a piece, and what of it a piece before has, as boxes. */
static void find_needed_boxes(pti_arena_builder *of, int operand, bool new_piece,
                              const polytile_domain *hull, const polytile_domain *threads) {
    const pti_piece_state *at = pti_arena_state_of(of, operand);
    const pti_operand *declared = &of->arena.instance->operand[operand];
    pti_boxes_clear(&of->shared);
    pti_boxes_clear(&of->needed);
    if (!declared->reads && !declared->fresh)
        return;
    if (new_piece && hull_is_surely_faster(of, operand, hull, threads)) {
        need_one(of, hull);
        return;
    }
    pti_footprint_boxes(of->arena.instance, operand, declared->fresh ? PTI_WRITES : PTI_READS,
                        threads, PTI_MAX_READ_BOXES, &of->needed);
    pti_pieces_add_met(of->arena.instance, operand, threads, PTI_MAX_READ_BOXES, &of->rest,
                       &of->needed);
    if (new_piece && may_copy(of, operand, hull))
        pti_boxes_intersect(&of->shared, &of->needed, &at->valid);
    if (new_piece && one_upload_is_faster(of, operand)) {
        polytile_domain around = pti_boxes_hull(&of->needed);
        need_one(of, &around);
    }
}

void pti_arena_bring(pti_arena_builder *of, int operand, int64_t superblock,
                     const polytile_domain *hull, const polytile_domain *threads) {
    pti_piece_state *at = pti_arena_state_of(of, operand);
    const pti_operand *declared = &of->arena.instance->operand[operand];
    bool new_piece = !pti_arena_piece_stays(of, operand, superblock, hull);
    int64_t from = at->placement;
    int from_cell = at->cell;
    find_needed_boxes(of, operand, new_piece, hull, threads);
    if (new_piece)
        pti_arena_take_cell(of, operand, superblock, hull);
    if (!of->builder.failed && of->shared.n_boxes > 0)
        copy_shared(of, operand, superblock, from, from_cell, &of->shared);
    pti_boxes_subtract_all(&of->needed, &at->valid);
    if (declared->fresh)
        begin_cell_reduction(of, operand, superblock);
    else
        upload_boxes(of, operand, superblock, &of->needed);
}
