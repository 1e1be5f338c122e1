#include "partition/window/lone.h"

#include "partition/arena/build.h"

#include <string.h>

/** Return whether an array stands for two operands, of which one is written: each has a piece of
 * its own where a launch is by itself. */
static bool is_shared_by_writers(pti_call call) {
    bool is = false;
    for (int o = 0; o < call.instance->n_operands; o++)
        for (int other = 0; other < o; other++)
            is |= call.array[o] == call.array[other] &&
                  (call.instance->operand[o].writes || call.instance->operand[other].writes);
    return is;
}

bool pti_launch_is_lone(pti_call call, const pti_partition *partition) {
    return partition->n_strips > 1 && !pti_instance_has_scratch(call.instance) &&
           !is_shared_by_writers(call);
}

/** Let the placements of a launch by itself be of arrays, by position. */
static void name_arrays(pti_call call, const pti_instance *arrays, pti_schedule *schedule) {
    memcpy(schedule->launch_array, call.array,
           (size_t)call.instance->n_operands * sizeof *schedule->launch_array);
    for (int64_t p = 0; p < schedule->n_placements; p++)
        schedule->placement[p].operand = call.array[schedule->placement[p].operand];
    schedule->instance = arrays;
}

polytile_status pti_lone_build(const pti_step *step, const pti_instance *arrays,
                               const polytile_link *link, int64_t memory_bytes,
                               pti_schedule **schedule) {
    int64_t need_bytes;
    polytile_status status = pti_schedule_build(step->call.instance, step->partition, link,
                                                memory_bytes, &need_bytes, schedule);
    if (status == POLYTILE_OK)
        name_arrays(step->call, arrays, *schedule);
    return status;
}
