#include "queue/worker/run_schedule.h"

#include "base/checked.h"
#include "launch/execute/execute.h"

#include <stdlib.h>
#include <string.h>

/** The most operands of a schedule: all positions, or those of one launch. */
static size_t most_operands(const polytile_queue *queue) {
    int n_positions =
        queue->residency == NULL ? 0 : pti_residency_arrays(queue->residency)->n_operands;
    return (size_t)pti_max(pti_max(queue->n_arrays, n_positions), PTI_MAX_OPERANDS);
}

polytile_status pti_bindings_create(polytile_queue *queue, pti_bindings *bindings) {
    size_t n = most_operands(queue);
    *bindings = (pti_bindings){.queue = queue,
                               .array = calloc(n, sizeof *bindings->array),
                               .is_touched = calloc(n, sizeof *bindings->is_touched),
                               .has_begun = calloc(n, sizeof *bindings->has_begun),
                               .null_array = {.state = PTI_ARRAY_COMPLETE}};
    if (bindings->array == NULL || bindings->is_touched == NULL || bindings->has_begun == NULL)
        return pti_fail_memory(queue->object.context, "queue",
                               (double)n * (double)sizeof *bindings->array);
    return POLYTILE_OK;
}

void pti_bindings_free(pti_bindings *bindings) {
    free(bindings->array);
    free(bindings->is_touched);
    free(bindings->has_begun);
    *bindings = (pti_bindings){0};
}

void pti_bindings_reset(pti_bindings *bindings) {
    bindings->n_begun = 0;
    memset(bindings->has_begun, 0, most_operands(bindings->queue) * sizeof *bindings->has_begun);
}

static int position_of_operand(const int *position, int operand) {
    return position == NULL ? operand : position[operand];
}

/** Note the arrays of which elements move. The schedule is not checked yet: its numbers may be
 * wrong. */
static void note_moves(const pti_schedule *schedule, bool *is_touched) {
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        if ((op->kind == PTI_UPLOAD || op->kind == PTI_DOWNLOAD) && op->placement >= 0 &&
            op->placement < schedule->n_placements)
            is_touched[schedule->placement[op->placement].operand] = true;
    }
}

/** Kernels that run in place touch the arrays of their launches; a schedule without launches may
 * touch all. */
static void note_operands(const pti_schedule *schedule, bool *is_touched) {
    for (int o = 0; o < schedule->instance->n_operands; o++)
        is_touched[o] = schedule->n_launches == 0;
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_call *call = &schedule->launch[l].call;
        for (int o = 0; o < call->instance->n_operands; o++)
            is_touched[call->array[o]] = true;
    }
}

static void bind_arrays(pti_bindings *bindings, const pti_schedule *schedule, const int *position) {
    const polytile_queue *queue = bindings->queue;
    for (int o = 0; o < schedule->instance->n_operands; o++) {
        int p = position_of_operand(position, o);
        polytile_array *array = p < queue->n_arrays ? queue->array[p].array : NULL;
        bindings->array[o] = array == NULL ? &bindings->null_array : array;
        bindings->is_touched[o] = false;
    }
    if (schedule->in_place)
        note_operands(schedule, bindings->is_touched);
    else
        note_moves(schedule, bindings->is_touched);
}

/** Arrays whose host memory is touched have some, which is in reach. */
static polytile_status open_arrays(const pti_bindings *bindings, const pti_schedule *schedule,
                                   const int *position) {
    polytile_queue *queue = bindings->queue;
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < schedule->instance->n_operands; o++) {
        if (!bindings->is_touched[o])
            continue;
        if (bindings->array[o]->is_internal && !schedule->in_place)
            PTI_TRY(pti_queue_spill(queue, bindings->array[o]));
        PTI_TRY(pti_guard_open(queue->object.context,
                               &queue->array[position_of_operand(position, o)].guard));
    }
done:
    return status;
}

static void close_arrays(const pti_bindings *bindings, const pti_schedule *schedule,
                         const int *position) {
    for (int o = 0; o < schedule->instance->n_operands; o++) {
        if (bindings->is_touched[o])
            pti_close_guard(bindings->queue, position_of_operand(position, o));
    }
}

void pti_report_add(polytile_report *sum, const polytile_report *run) {
    sum->n_launches += run->n_launches;
    sum->n_kernels += run->n_kernels;
    sum->peak_device_bytes = pti_max(sum->peak_device_bytes, run->peak_device_bytes);
    sum->h2d_bytes += run->h2d_bytes;
    sum->d2h_bytes += run->d2h_bytes;
    sum->p2p_bytes += run->p2p_bytes;
    sum->plan_s += run->plan_s;
    sum->run_s += run->run_s;
    sum->compute_s += run->compute_s;
    sum->transfer_s += run->transfer_s;
}

static polytile_status execute_bound(pti_bindings *bindings, const pti_schedule *schedule,
                                     const pti_launch_config *configs, polytile_report *report) {
    polytile_device *device = bindings->queue->device;
    polytile_report run = {0};
    polytile_status status;
    device->is_running = true;
    device->n_ops_begun = 0;
    if (schedule->n_launches > 0)
        device->cancel_number = bindings->queue->window_number;
    if (schedule->in_place)
        status = pti_execute(device, schedule, configs, bindings->array, &run);
    else
        status = pti_execute_window(device, schedule, configs, bindings->array, bindings->has_begun,
                                    &run);
    bindings->n_begun = device->n_ops_begun;
    device->cancel_number = PTI_NOT_CANCELLABLE;
    device->is_running = false;
    pti_report_add(report, &run);
    return status;
}

polytile_status pti_run_schedule(pti_bindings *bindings, const pti_schedule *schedule,
                                 const int *position, const pti_launch_config *configs,
                                 polytile_report *report) {
    polytile_context *ctx = bindings->queue->object.context;
    polytile_status status;
    pti_error first = {0};
    bind_arrays(bindings, schedule, position);
    PTI_TRY(open_arrays(bindings, schedule, position));
    PTI_TRY(execute_bound(bindings, schedule, configs, report));
done:
    pti_error_keep(&first, ctx, status);
    close_arrays(bindings, schedule, position);
    return pti_error_restore(ctx, &first);
}
