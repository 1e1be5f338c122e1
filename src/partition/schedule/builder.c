#include "partition/schedule/builder.h"

#include "base/checked.h"

#include <stdlib.h>

/** What the superblocks of one schedule may take of the host's memory, by the least that they do.
 */
enum { MOST_HOST_BYTES = 512 << 20 };

pti_last pti_last_none(void) {
    pti_last last;
    for (int s = 0; s < PTI_N_STREAMS; s++)
        last.op[s] = -1;
    return last;
}

void pti_last_note(pti_last *last, pti_op_kind kind, int64_t op) {
    pti_last_note_on(last, pti_op_stream(&(pti_op){.kind = kind}), op);
}

void pti_last_note_on(pti_last *last, pti_stream stream, int64_t op) {
    last->op[stream] = op;
}

void pti_last_join(pti_last *last, const pti_last *other) {
    for (int s = 0; s < PTI_N_STREAMS; s++)
        last->op[s] = pti_max(last->op[s], other->op[s]);
}

static bool grow_builder_list(pti_builder *builder, void **list, int64_t count, int64_t *capacity,
                              size_t element_bytes) {
    if (builder->failed || count < *capacity)
        return !builder->failed;
    int64_t larger = count * 2 + 64;
    void *grown = realloc(*list, (size_t)larger * element_bytes);
    if (grown == NULL) {
        builder->failed = true;
        return false;
    }
    *list = grown;
    *capacity = larger;
    return true;
}

static void add_wait(pti_builder *builder, int64_t op, int *n_waits) {
    pti_schedule *schedule = builder->schedule;
    void *list = schedule->wait;
    bool room = grow_builder_list(builder, &list, schedule->n_waits, &builder->wait_capacity,
                                  sizeof *schedule->wait);
    schedule->wait = list;
    if (!room)
        return;
    schedule->wait[schedule->n_waits++] = op;
    *n_waits += 1;
}

static void fill_up(pti_builder *builder, bool is_full) {
    builder->is_full |= is_full;
    builder->failed |= is_full;
}

void pti_builder_look(pti_builder *builder, int64_t n_looks) {
    builder->n_looks += n_looks;
    fill_up(builder, builder->n_looks > PTI_MAX_LOOKS);
}

polytile_status pti_builder_status(const pti_builder *builder) {
    return builder->is_full ? POLYTILE_UNSUPPORTED : POLYTILE_NO_MEMORY;
}

int64_t pti_builder_add(pti_builder *builder, const pti_op *op, const pti_last *waits) {
    pti_schedule *schedule = builder->schedule;
    void *list = schedule->op;
    fill_up(builder, schedule->n_ops == PTI_MAX_OPS);
    bool room = grow_builder_list(builder, &list, schedule->n_ops, &builder->op_capacity,
                                  sizeof *schedule->op);
    schedule->op = list;
    if (!room)
        return -1;
    pti_op *made = &schedule->op[schedule->n_ops];
    *made = *op;
    made->first_wait = schedule->n_waits;
    made->n_waits = 0;
    for (int s = 0; s < PTI_N_STREAMS; s++) {
        if (s != (int)pti_op_stream(op) && waits->op[s] >= 0)
            add_wait(builder, waits->op[s], &made->n_waits);
    }
    return schedule->n_ops++;
}

int64_t pti_builder_place(pti_builder *builder, const pti_placement *placement) {
    pti_schedule *schedule = builder->schedule;
    void *list = schedule->placement;
    bool room = grow_builder_list(builder, &list, schedule->n_placements,
                                  &builder->placement_capacity, sizeof *schedule->placement);
    schedule->placement = list;
    if (!room)
        return -1;
    schedule->placement[schedule->n_placements] = *placement;
    return schedule->n_placements++;
}

void pti_builder_renew(pti_builder *builder, int operand, const pti_boxes *boxes) {
    pti_schedule *schedule = builder->schedule;
    size_t n_renewals = (size_t)schedule->n_renewals + 1;
    pti_renewal *grown = realloc(schedule->renewal, n_renewals * sizeof *grown);
    if (grown == NULL) {
        builder->failed = true;
        return;
    }
    schedule->renewal = grown;
    pti_renewal *made = &grown[schedule->n_renewals++];
    *made = (pti_renewal){.operand = operand, .first_op = schedule->n_ops};
    pti_boxes_copy(&made->boxes, boxes);
    builder->failed |= made->boxes.failed;
}

double pti_builder_superblock_bytes(const pti_instance *instance) {
    double n_operands = instance->n_operands;
    return sizeof(polytile_domain) + sizeof(pti_op) +
           n_operands * (sizeof(pti_placement) + sizeof(int64_t) + sizeof(pti_op));
}

int64_t pti_builder_most_superblocks(const pti_instance *instance) {
    double most = MOST_HOST_BYTES / pti_builder_superblock_bytes(instance);
    return pti_min(PTI_MAX_SUPERBLOCKS, (int64_t)most);
}

static pti_schedule *new_schedule(const pti_instance *instance, int64_t n_superblocks) {
    pti_schedule *schedule = calloc(1, sizeof *schedule);
    if (schedule == NULL)
        return NULL;
    size_t n_pieces = (size_t)n_superblocks * (size_t)instance->n_operands;
    schedule->instance = instance;
    schedule->superblock = calloc((size_t)n_superblocks + 1, sizeof *schedule->superblock);
    schedule->launch_placement = calloc(n_pieces + 1, sizeof *schedule->launch_placement);
    if (schedule->superblock == NULL || schedule->launch_placement == NULL) {
        pti_schedule_free(schedule);
        return NULL;
    }
    schedule->n_superblocks = n_superblocks;
    return schedule;
}

void pti_builder_begin(pti_builder *builder, const pti_instance *instance, int64_t n_superblocks) {
    int64_t n_operands = instance->n_operands;
    pti_schedule *schedule = new_schedule(instance, n_superblocks);
    *builder = (pti_builder){.schedule = schedule,
                             .op_capacity = n_superblocks * (2 * n_operands + 2),
                             .wait_capacity = n_superblocks * (2 * n_operands + 2),
                             .placement_capacity = n_superblocks * n_operands};
    if (schedule == NULL)
        return;
    schedule->op = malloc((size_t)(builder->op_capacity + 1) * sizeof *schedule->op);
    schedule->wait = malloc((size_t)(builder->wait_capacity + 1) * sizeof *schedule->wait);
    schedule->placement =
        malloc((size_t)(builder->placement_capacity + 1) * sizeof *schedule->placement);
    builder->failed = schedule->op == NULL || schedule->wait == NULL || schedule->placement == NULL;
}
