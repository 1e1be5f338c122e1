#include "partition/schedule/schedule.h"

#include "base/checked.h"

#include <stdlib.h>

static const struct {
    const char *word;
    pti_stream stream;
} ops[] = {
#define OP_ROW(name, word, stream) {word, stream},
    PTI_OPS(OP_ROW)
#undef OP_ROW
};

const char *pti_op_word(pti_op_kind kind) {
    return ops[kind].word;
}

pti_stream pti_op_stream(const pti_op *op) {
    return op->lane > 0 ? pti_lane_stream(op->lane) : ops[op->kind].stream;
}

int64_t *pti_schedule_placements(const pti_schedule *schedule, int launch, int64_t superblock) {
    const pti_schedule_launch *schedule_launch = &schedule->launch[launch];
    return &schedule->launch_placement[schedule_launch->first_placement +
                                       (superblock - schedule_launch->first_superblock) *
                                           schedule_launch->call.instance->n_operands];
}

const pti_placement *pti_schedule_placement(const pti_schedule *schedule, int launch,
                                            int64_t superblock, int operand) {
    int64_t placement = pti_schedule_placements(schedule, launch, superblock)[operand];
    return placement < 0 ? NULL : &schedule->placement[placement];
}

bool pti_schedule_is_placed_before(const int64_t *placements, int operand) {
    for (int o = 0; o < operand; o++)
        if (placements[o] == placements[operand])
            return true;
    return false;
}

const pti_schedule_launch *pti_schedule_launch_of(const pti_schedule *schedule, const pti_op *op) {
    return op->launch < schedule->n_launches ? &schedule->launch[op->launch] : NULL;
}

int pti_schedule_launch_at(const pti_schedule *schedule, int64_t superblock) {
    int lo = 0, hi = schedule->n_launches - 1;
    while (lo < hi) {
        int middle = hi - (hi - lo) / 2;
        if (schedule->launch[middle].first_superblock <= superblock)
            lo = middle;
        else
            hi = middle - 1;
    }
    return lo;
}

polytile_domain pti_schedule_asked_superblock(const pti_schedule *schedule, int64_t superblock) {
    const pti_instance *instance =
        schedule->n_launches == 0
            ? NULL
            : schedule->launch[pti_schedule_launch_at(schedule, superblock)].call.instance;
    const polytile_domain *threads = &schedule->superblock[superblock];
    return instance == NULL ? *threads : pti_instance_asked_box(instance, threads);
}

int64_t pti_schedule_n_kernels(const pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    const int64_t n_more = period->times > 0 ? period->times - 1 : 0;
    return schedule->n_superblocks + n_more * period->n_kernels;
}

polytile_domain pti_schedule_asked_kernel(const pti_schedule *schedule, const int64_t *run_order,
                                          int64_t k) {
    const pti_period *period = &schedule->period;
    const int64_t past = k - period->first_kernel;
    int64_t turn = period->times == 0 || past < 0 ? 0 : past / period->n_kernels;
    const bool is_after = turn >= period->times;
    turn = is_after ? pti_max(0, period->times - 1) : turn;
    const int64_t listed = k - turn * period->n_kernels;
    const int64_t superblock = run_order == NULL ? listed : run_order[listed];
    const int l = pti_schedule_launch_at(schedule, superblock);
    const pti_schedule_launch *launch = &schedule->launch[l];
    polytile_domain threads = schedule->superblock[superblock];
    if (period->times > 0 && !is_after)
        threads = pti_box_moved(&threads, &period->launch[l].threads, turn);
    return pti_instance_asked_box(launch->call.instance, &threads);
}

bool pti_schedule_is_of_one_launch(const pti_schedule *schedule) {
    return schedule->n_launches == 1 && schedule->launch[0].call.instance == schedule->instance;
}

const pti_operand *pti_schedule_fresh(const pti_schedule *schedule, const pti_op *op, int array) {
    const pti_schedule_launch *launch = pti_schedule_launch_of(schedule, op);
    const pti_instance *instance = launch == NULL ? NULL : launch->call.instance;
    for (int o = 0; instance != NULL && !op->is_unwritten && o < instance->n_operands; o++)
        if (launch->call.array[o] == array && instance->operand[o].fresh)
            return &instance->operand[o];
    return NULL;
}

const pti_placement *pti_tiles_placement(const pti_schedule *schedule, const pti_tiles *tiles,
                                         int array) {
    const pti_op *last = &schedule->op[tiles->first_op + tiles->n_ops - 1];
    const int l = tiles->is_of_slab ? last->launch : tiles->first_launch;
    const pti_schedule_launch *launch = &schedule->launch[l];
    const int64_t superblock = tiles->is_of_slab ? last->superblock : launch->first_superblock;
    const pti_placement *found = NULL;
    for (int o = 0; o < launch->call.instance->n_operands; o++)
        if (launch->call.array[o] == array)
            found = pti_schedule_placement(schedule, l, superblock, o);
    return found;
}

/** The end of memory aside in the arena: it is laid out as the array where the launches find it. */
static int64_t end_of_aside(const pti_schedule *schedule, int tiles, int number) {
    const pti_tile_aside *aside = &schedule->tiles[tiles].aside[number];
    const pti_placement *placement =
        pti_tiles_placement(schedule, &schedule->tiles[tiles], aside->array);
    return aside->offset_bytes < 0 || placement == NULL
               ? 0
               : aside->offset_bytes + placement->layout.size_bytes;
}

int64_t pti_schedule_peak_bytes(const pti_schedule *schedule) {
    int64_t peak = 0;
    for (int64_t k = 0; k < schedule->n_placements && !schedule->in_place; k++) {
        const pti_placement *placement = &schedule->placement[k];
        peak = pti_max(peak, placement->offset_bytes + placement->layout.size_bytes);
    }
    for (int t = 0; t < schedule->n_tiles; t++)
        for (int k = 0; k < schedule->tiles[t].n_aside; k++)
            peak = pti_max(peak, end_of_aside(schedule, t, k));
    return peak;
}

static void free_holdings(pti_holding *holding, int n_holdings) {
    for (int k = 0; k < n_holdings; k++) {
        pti_boxes_free(&holding[k].valid);
        pti_boxes_free(&holding[k].dirty);
    }
    free(holding);
}

static void free_unwritten(pti_schedule *schedule) {
    for (int a = 0; schedule->unwritten != NULL && a < schedule->instance->n_operands; a++)
        pti_boxes_free(&schedule->unwritten[a]);
    free(schedule->unwritten);
}

static void free_invalidations(pti_schedule *schedule) {
    for (int k = 0; k < schedule->n_invalidations; k++)
        pti_boxes_free(&schedule->invalidation[k].boxes);
    free(schedule->invalidation);
}

void pti_schedule_free(pti_schedule *schedule) {
    if (schedule == NULL)
        return;
    free(schedule->launch);
    free(schedule->launch_array);
    free_holdings(schedule->before, schedule->n_before);
    free_holdings(schedule->after, schedule->n_after);
    free_unwritten(schedule);
    free_invalidations(schedule);
    free(schedule->dropped);
    free(schedule->superblock);
    free(schedule->placement);
    free(schedule->launch_placement);
    free(schedule->op);
    free(schedule->wait);
    free(schedule->tiles);
    pti_columns_free(&schedule->columns);
    pti_period_free(&schedule->period);
    free(schedule);
}
