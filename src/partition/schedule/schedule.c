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
    return op->abreast ? PTI_STREAM_ABREAST : ops[op->kind].stream;
}

const pti_placement *pti_schedule_placement(const pti_schedule *schedule, int64_t superblock,
                                            int operand) {
    int64_t position = superblock * schedule->instance->n_operands + operand;
    int64_t placement = schedule->launch_placement[position];
    return placement < 0 ? NULL : &schedule->placement[placement];
}

pti_schedule_launch pti_schedule_launch_of(const pti_schedule *schedule, const pti_op *op) {
    if (op->launch < schedule->n_launches)
        return schedule->launch[op->launch];
    return (pti_schedule_launch){.instance = schedule->instance,
                                 .n_superblocks = schedule->n_superblocks};
}

int pti_schedule_array(const pti_schedule_launch *launch, int operand) {
    return launch->array == NULL ? operand : launch->array[operand];
}

int64_t pti_schedule_peak_bytes(const pti_schedule *schedule) {
    int64_t peak = 0;
    for (int64_t k = 0; k < schedule->n_placements && !schedule->in_place; k++) {
        const pti_placement *placement = &schedule->placement[k];
        peak = pti_max(peak, placement->offset_bytes + placement->layout.size_bytes);
    }
    return peak;
}

static void free_holdings(pti_holding *holding, int n_holdings) {
    for (int k = 0; k < n_holdings; k++) {
        pti_boxes_free(&holding[k].valid);
        pti_boxes_free(&holding[k].dirty);
    }
    free(holding);
}

static void free_launches(pti_schedule *schedule) {
    for (int k = 0; k < schedule->n_launches; k++)
        free((void *)schedule->launch[k].array);
    free(schedule->launch);
}

static void free_unwritten(pti_schedule *schedule) {
    for (int a = 0; schedule->unwritten != NULL && a < schedule->instance->n_operands; a++)
        pti_boxes_free(&schedule->unwritten[a]);
    free(schedule->unwritten);
}

static void free_renewals(pti_schedule *schedule) {
    for (int k = 0; k < schedule->n_renewals; k++)
        pti_boxes_free(&schedule->renewal[k].boxes);
    free(schedule->renewal);
}

void pti_schedule_free(pti_schedule *schedule) {
    if (schedule == NULL)
        return;
    free_launches(schedule);
    free_holdings(schedule->before, schedule->n_before);
    free_holdings(schedule->after, schedule->n_after);
    free_unwritten(schedule);
    free_renewals(schedule);
    free(schedule->dropped);
    free(schedule->superblock);
    free(schedule->placement);
    free(schedule->launch_placement);
    free(schedule->op);
    free(schedule->wait);
    free(schedule);
}
