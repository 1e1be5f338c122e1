#include "partition/arena/build.h"

#include "base/checked.h"
#include "partition/arena/arena_builder.h"
#include "partition/arena/turn.h"

#include <stdlib.h>
#include <string.h>

static void note_launch(pti_arena_builder *of, int operand, int64_t launch,
                        const polytile_domain *threads) {
    pti_piece_state *at = pti_arena_state_of(of, operand);
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

static void add_launch_op(pti_arena_builder *of, int64_t superblock,
                          const polytile_domain *threads) {
    pti_last waits = pti_last_none();
    int n_operands = of->arena.instance->n_operands;
    int64_t *placements = pti_schedule_placements(of->builder.schedule, 0, superblock);
    pti_beside_see(&of->beside, of->builder.schedule);
    for (int a = 0; a < n_operands; a++) {
        const pti_piece_state *at = pti_arena_state_of(of, a);
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

static void drop_piece(pti_arena_builder *of, int operand, int64_t superblock) {
    pti_arena_flush(of, operand, superblock);
    pti_arena_state_of(of, operand)->placement = -1;
}

/** Return the boxes that bringing a piece goes through. */
static int64_t count_looks(pti_arena_builder *of, int operand) {
    const pti_piece_state *at = pti_arena_state_of(of, operand);
    const pti_arena_operand_state *whole = pti_arena_whole_of(of, operand);
    return PTI_LOOKS_A_BOX *
           ((int64_t)at->valid.n_boxes + whole->initialised.n_boxes + whole->downloaded.n_boxes);
}

static void add_superblock(pti_arena_builder *of, int64_t superblock) {
    const polytile_domain *threads = &of->arena.partition->superblock[superblock];
    polytile_domain hull[PTI_MAX_OPERANDS];
    bool touched[PTI_MAX_OPERANDS];
    pti_arena_prepare(&of->arena, superblock);
    of->strip = pti_partition_strip(of->arena.partition, superblock);
    for (int a = 0; a < of->arena.instance->n_operands; a++) {
        touched[a] = pti_arena_find_piece(&of->arena, a, threads, &hull[a]);
        if (!touched[a])
            drop_piece(of, a, superblock - 1);
        else if (!pti_arena_piece_stays(of, a, superblock, &hull[a]))
            pti_arena_flush(of, a, superblock - 1);
    }
    for (int a = 0; a < of->arena.instance->n_operands; a++)
        pti_arena_settle_others(of, a, superblock - 1, threads);
    for (int a = 0; a < of->arena.instance->n_operands; a++) {
        if (touched[a])
            pti_arena_bring(of, a, superblock, &hull[a], threads);
        pti_builder_look(&of->builder, count_looks(of, a));
        if (of->builder.failed)
            return;
    }
    add_launch_op(of, superblock, threads);
}

static bool sets_failed(const pti_arena_builder *of) {
    bool failed = of->needed.failed || of->shared.failed || of->rest.failed;
    for (int a = 0; a < of->arena.instance->n_operands; a++)
        failed |= of->operand[a].initialised.failed || of->operand[a].downloaded.failed;
    for (int p = 0; p < of->arena.instance->n_operands * of->n_strips; p++)
        failed |= of->state[p].valid.failed || of->state[p].dirty.failed;
    return failed;
}

static void begin_states(pti_arena_builder *of) {
    for (int a = 0; a < of->arena.instance->n_operands; a++)
        of->operand[a].may_upload_around = pti_arena_may_upload_around(of->arena.instance, a);
    for (int p = 0; p < of->arena.instance->n_operands * of->n_strips; p++) {
        of->state[p].placement = -1;
        of->state[p].cell = -1;
    }
}

static void add_all(pti_arena_builder *of) {
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
static pti_arena_builder *new_builder(const pti_instance *instance, int n_strips) {
    const size_t n_operands = (size_t)instance->n_operands,
                 n_states = n_operands * (size_t)n_strips;
    const size_t n_bytes = sizeof(pti_arena_builder) + n_states * sizeof(pti_piece_state) +
                           n_operands * sizeof(pti_arena_operand_state);
    pti_arena_builder *of = malloc(n_bytes);
    if (of == NULL)
        return NULL;
    memset((char *)of + sizeof of->arena, 0, n_bytes - sizeof of->arena);
    of->operand = (pti_arena_operand_state *)&of->state[n_states];
    of->n_strips = n_strips;
    return of;
}

static void free_builder(pti_arena_builder *of, const pti_instance *instance) {
    pti_boxes_free(&of->needed);
    pti_boxes_free(&of->shared);
    pti_boxes_free(&of->rest);
    for (int a = 0; a < instance->n_operands; a++) {
        pti_boxes_free(&of->operand[a].initialised);
        pti_boxes_free(&of->operand[a].downloaded);
    }
    for (int p = 0; p < instance->n_operands * of->n_strips; p++) {
        pti_boxes_free(&of->state[p].valid);
        pti_boxes_free(&of->state[p].dirty);
    }
    free(of);
}

/** Lay out all superblocks in a divided arena. On error the schedule is freed. */
static polytile_status lay_out(pti_arena_builder *of, int64_t limit_bytes) {
    const pti_partition *partition = of->arena.partition;
    pti_builder_begin_one(&of->builder, of->arena.instance, partition->n_superblocks);
    if (of->builder.schedule == NULL)
        return POLYTILE_NO_MEMORY;
    of->beside = pti_beside_begin(&of->builder, partition->n_lanes, 0);
    of->builder.schedule->limit_bytes = limit_bytes;
    of->builder.schedule->arena_bytes = of->arena.division.arena_bytes;
    begin_states(of);
    add_all(of);
    if (!of->builder.failed && !sets_failed(of))
        return POLYTILE_OK;
    pti_schedule_free(of->builder.schedule);
    return pti_builder_status(&of->builder);
}

polytile_status pti_schedule_build(const pti_instance *instance, const pti_partition *partition,
                                   const polytile_link *link, int64_t limit_bytes,
                                   int64_t *need_bytes, pti_schedule **schedule) {
    pti_arena_builder *of = new_builder(instance, (int)pti_max(partition->n_strips, 1));
    *schedule = NULL;
    if (of == NULL)
        return POLYTILE_NO_MEMORY;
    of->link = link;
    const bool fits = pti_arena_divide(&of->arena, instance, partition, limit_bytes);
    *need_bytes = of->arena.division.arena_bytes;
    const polytile_status status = fits ? lay_out(of, limit_bytes) : POLYTILE_NO_FIT;
    if (status == POLYTILE_OK)
        *schedule = of->builder.schedule;
    free_builder(of, instance);
    return status;
}
