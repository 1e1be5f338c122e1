#include "partition/arena/arena_builder.h"

bool pti_arena_piece_stays(const pti_arena_builder *of, int operand, int64_t superblock,
                           const polytile_domain *hull) {
    const pti_piece_state *at = pti_arena_state_of(of, operand);
    if (at->placement < 0 || !pti_box_equals(&at->hull, hull))
        return false;
    if (pti_arena_has_cells(&of->arena, operand))
        return true;
    return superblock % of->arena.partition->n_buffers == at->cell &&
           pti_arena_placement_of(of, operand)->offset_bytes == of->arena.next_offset[operand];
}

static int64_t piece_box_bytes(const pti_arena_builder *of, int operand,
                               const polytile_domain *box) {
    return pti_box_count(box) * of->arena.instance->operand[operand].element_bytes;
}

static int64_t emit_op(pti_arena_builder *of, pti_op_kind kind, int operand, int64_t superblock,
                       int64_t placement, const polytile_domain *box, const pti_last *waits) {
    pti_op op = {.kind = kind,
                 .superblock = superblock,
                 .placement = placement,
                 .source_placement = -1,
                 .bytes = piece_box_bytes(of, operand, box),
                 .box = *box};
    return pti_builder_add(&of->builder, &op, waits);
}

/** Note a downloaded box. The set may hold more than was downloaded: that costs a wait. */
static void gather_downloaded(pti_boxes *downloaded, const polytile_domain *box) {
    enum { MOST_BOXES = 256 };
    pti_boxes_gather(downloaded, box);
    if (downloaded->n_boxes <= MOST_BOXES)
        return;
    polytile_domain around = pti_boxes_hull(downloaded);
    pti_boxes_assign(downloaded, &around);
}

/** Download what is newer than the host's copy, and note it, since later uploads may need it. */
static void flush_piece(pti_arena_builder *of, int operand, pti_piece_state *at,
                        int64_t superblock) {
    pti_arena_operand_state *whole = pti_arena_whole_of(of, operand);
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

void pti_arena_flush(pti_arena_builder *of, int operand, int64_t superblock) {
    flush_piece(of, operand, pti_arena_state_of(of, operand), superblock);
}

/** Let an operand's pieces give up elements into which a superblock combines through another
 * operand of the same array. */
static void give_up(pti_arena_builder *of, int operand, const polytile_domain *box,
                    int64_t superblock) {
    for (int s = 0; s < of->n_strips; s++) {
        pti_piece_state *at = &of->state[operand * of->n_strips + s];
        if (pti_boxes_meet(&at->dirty, box))
            flush_piece(of, operand, at, superblock);
        pti_boxes_subtract(&at->valid, box);
    }
}

void pti_arena_settle_others(pti_arena_builder *of, int operand, int64_t superblock,
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

void pti_arena_take_cell(pti_arena_builder *of, int operand, int64_t superblock,
                         const polytile_domain *hull) {
    pti_piece_state *at = pti_arena_state_of(of, operand);
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

void pti_arena_write_in_cell(pti_arena_builder *of, pti_op_kind kind, int operand,
                             int64_t superblock, const polytile_domain *box,
                             const pti_last *waits) {
    pti_piece_state *at = pti_arena_state_of(of, operand);
    int64_t op = emit_op(of, kind, operand, superblock, at->placement, box, waits);
    pti_last_note(&at->writers, kind, op);
    pti_last_note(&of->arena.operand_cells[operand][at->cell].users, kind, op);
    pti_boxes_append(&at->valid, box);
}
