#include "partition/schedule/builder.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/** What the superblocks of one schedule may take of the host's memory, by the least that they do.
 */
enum { MOST_HOST_BYTES = 512 << 20 };

void pti_last_note(pti_last *last, pti_op_kind kind, int64_t op) {
    pti_op of_lane_0;
    of_lane_0.kind = kind;
    of_lane_0.lane = 0;
    pti_last_note_on(last, pti_op_stream(&of_lane_0), op);
}

static void add_wait(pti_builder *builder, int64_t op, int *n_waits) {
    pti_schedule *schedule = builder->schedule;
    builder->failed =
        builder->failed || !PTI_GROW(schedule->wait, schedule->n_waits, &builder->wait_capacity);
    if (builder->failed)
        return;
    schedule->wait[schedule->n_waits++] = op;
    *n_waits += 1;
}

static void fill_up(pti_builder *builder, bool is_full) {
    builder->is_full |= is_full;
    builder->failed |= is_full;
}

void pti_builder_give_up(pti_builder *builder) {
    fill_up(builder, true);
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
    fill_up(builder, schedule->n_ops == PTI_MAX_OPS);
    builder->failed =
        builder->failed || !PTI_GROW(schedule->op, schedule->n_ops, &builder->op_capacity);
    if (builder->failed)
        return -1;
    const int own = (int)pti_op_stream(op);
    pti_op *made = &schedule->op[schedule->n_ops];
    *made = *op;
    made->first_wait = schedule->n_waits;
    made->n_waits = 0;
    for (int s = 0; s < waits->n_streams; s++) {
        if (s != (int)own && waits->op[s] >= 0)
            add_wait(builder, waits->op[s], &made->n_waits);
    }
    schedule->n_lanes = (int)pti_max(schedule->n_lanes, op->lane + 1);
    return schedule->n_ops++;
}

pti_beside pti_beside_begin(const pti_builder *builder, int n_lanes, int launch) {
    pti_beside made = {.n_lanes = n_lanes, .launch = launch, .apart = pti_last_none()};
    pti_beside_see(&made, builder->schedule);
    return made;
}

void pti_beside_see(pti_beside *beside, const pti_schedule *schedule) {
    for (; beside->n_lanes > 1 && beside->n_seen < schedule->n_ops; beside->n_seen++) {
        const pti_op *op = &schedule->op[beside->n_seen];
        if (op->kind != PTI_LAUNCH || op->launch != beside->launch)
            pti_last_note_on(&beside->apart, pti_op_stream(op), beside->n_seen);
    }
}

void pti_beside_join(const pti_beside *beside, const pti_schedule *schedule, pti_last *waits,
                     const pti_last *users) {
    pti_last others;
    if (beside->n_lanes <= 1) {
        pti_last_join(waits, users);
        return;
    }
    others = *users;
    for (int s = PTI_STREAM_COMPUTE; s < others.n_streams; s++) {
        const pti_op *op = others.op[s] < 0 ? NULL : &schedule->op[others.op[s]];
        if (op != NULL && op->kind == PTI_LAUNCH && op->launch == beside->launch)
            others.op[s] = (int32_t)pti_last_on(&beside->apart, s);
    }
    pti_last_join(waits, &others);
}

int pti_beside_lane(const pti_beside *beside, int64_t superblock) {
    return beside->n_lanes > 1 ? (int)(superblock % beside->n_lanes) : 0;
}

int64_t pti_builder_place(pti_builder *builder, const pti_placement *placement) {
    pti_schedule *schedule = builder->schedule;
    builder->failed = builder->failed || !PTI_GROW(schedule->placement, schedule->n_placements,
                                                   &builder->placement_capacity);
    if (builder->failed)
        return -1;
    schedule->placement[schedule->n_placements] = *placement;
    return schedule->n_placements++;
}

int64_t pti_builder_place_moved(pti_builder *builder, int64_t placement, const pti_shift *shift,
                                int64_t n_times) {
    pti_placement moved = builder->schedule->placement[placement];
    moved.layout.hull = pti_box_moved(&moved.layout.hull, shift, n_times);
    return pti_builder_place(builder, &moved);
}

void pti_builder_invalidate(pti_builder *builder, int operand, const pti_boxes *boxes) {
    pti_schedule *schedule = builder->schedule;
    if (!PTI_RESIZE(schedule->invalidation, schedule->n_invalidations + 1)) {
        builder->failed = true;
        return;
    }
    pti_invalidation *made = &schedule->invalidation[schedule->n_invalidations++];
    *made = (pti_invalidation){.operand = operand, .first_op = schedule->n_ops};
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

/** The lists that a schedule begins with. */
typedef struct list_lengths {
    int64_t n_operands; /* of all launches */
    int64_t n_superblocks;
    int64_t n_placements; /* that launches use */
} list_lengths;

static list_lengths count_lists(int n_launches, const pti_schedule_launch *launches) {
    list_lengths count = {0};
    for (int l = 0; l < n_launches; l++) {
        int n_operands = launches[l].call.instance->n_operands;
        count.n_operands += n_operands;
        count.n_superblocks += launches[l].n_superblocks;
        count.n_placements += launches[l].n_superblocks * n_operands;
    }
    return count;
}

/** Allocate lists of these lengths, and one element more. */
static bool allocate_launch_lists(pti_schedule *schedule, const list_lengths *count) {
    size_t placement_bytes = ((size_t)count->n_placements + 1) * sizeof *schedule->launch_placement;
    schedule->launch = calloc((size_t)schedule->n_launches + 1, sizeof *schedule->launch);
    schedule->launch_array = calloc((size_t)count->n_operands + 1, sizeof *schedule->launch_array);
    const bool has_long = PTI_BEGIN(schedule->superblock, count->n_superblocks + 1) &&
                          PTI_RESIZE(schedule->launch_placement, count->n_placements + 1);
    if (has_long)
        memset(schedule->launch_placement, -1, placement_bytes);
    return schedule->launch != NULL && schedule->launch_array != NULL && has_long;
}

/** Copy launches, and number their superblocks and placements one launch after the other. */
static void number_launches(pti_schedule *schedule, const pti_schedule_launch *launches) {
    int *array = schedule->launch_array;
    for (int l = 0; l < schedule->n_launches; l++) {
        pti_call call = launches[l].call;
        int n_operands = call.instance->n_operands;
        memcpy(array, call.array, (size_t)n_operands * sizeof *array);
        schedule->launch[l] =
            (pti_schedule_launch){.call = {call.instance, array},
                                  .first_superblock = schedule->n_superblocks,
                                  .n_superblocks = launches[l].n_superblocks,
                                  .first_placement = schedule->n_launch_placements};
        array += n_operands;
        schedule->n_superblocks += launches[l].n_superblocks;
        schedule->n_launch_placements += launches[l].n_superblocks * n_operands;
    }
}

static pti_schedule *new_schedule(const pti_instance *instance, int n_launches,
                                  const pti_schedule_launch *launches, const list_lengths *count) {
    pti_schedule *schedule = calloc(1, sizeof *schedule);
    if (schedule == NULL)
        return NULL;
    schedule->instance = instance;
    schedule->n_launches = n_launches;
    if (!allocate_launch_lists(schedule, count)) {
        pti_schedule_free(schedule);
        return NULL;
    }
    number_launches(schedule, launches);
    return schedule;
}

void pti_builder_begin(pti_builder *builder, const pti_instance *instance, int n_launches,
                       const pti_schedule_launch *launches) {
    list_lengths count = count_lists(n_launches, launches);
    pti_schedule *schedule = new_schedule(instance, n_launches, launches, &count);
    *builder = (pti_builder){.schedule = schedule,
                             .op_capacity = 2 * (count.n_placements + count.n_superblocks),
                             .wait_capacity = 2 * (count.n_placements + count.n_superblocks),
                             .placement_capacity = count.n_placements};
    if (schedule == NULL)
        return;
    builder->failed = !PTI_RESIZE(schedule->op, builder->op_capacity + 1) ||
                      !PTI_RESIZE(schedule->wait, builder->wait_capacity + 1) ||
                      !PTI_RESIZE(schedule->placement, builder->placement_capacity + 1);
}

void pti_builder_begin_one(pti_builder *builder, const pti_instance *instance,
                           int64_t n_superblocks) {
    *builder = (pti_builder){0};
    int *own = malloc(((size_t)instance->n_operands + 1) * sizeof *own);
    if (own == NULL)
        return;
    for (int o = 0; o < instance->n_operands; o++)
        own[o] = pti_operand_combined(instance, o);
    pti_schedule_launch launch = {.call = {instance, own}, .n_superblocks = n_superblocks};
    pti_builder_begin(builder, instance, 1, &launch);
    free(own);
}
