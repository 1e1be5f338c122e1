#include "partition/schedule.h"

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

pti_stream pti_op_stream(pti_op_kind kind) {
    return ops[kind].stream;
}

const pti_placement *pti_schedule_placement(const pti_schedule *schedule, int64_t superblock,
                                            int operand) {
    int64_t position = superblock * schedule->instance->n_operands + operand;
    int64_t placement = schedule->launch_placement[position];
    return placement < 0 ? NULL : &schedule->placement[placement];
}

int64_t pti_schedule_peak_bytes(const pti_schedule *schedule) {
    int64_t peak = 0;
    for (int64_t k = 0; k < schedule->n_placements && !schedule->in_place; k++) {
        const pti_placement *placement = &schedule->placement[k];
        peak = pti_max(peak, placement->offset_bytes + placement->layout.size_bytes);
    }
    return peak;
}

void pti_schedule_free(pti_schedule *schedule) {
    if (schedule == NULL)
        return;
    free(schedule->superblock);
    free(schedule->placement);
    free(schedule->launch_placement);
    free(schedule->op);
    free(schedule->wait);
    free(schedule);
}
