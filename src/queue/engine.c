#include "base/checked.h"
#include "base/clock.h"
#include "launch/device/completeness.h"
#include "launch/execute/execute.h"
#include "partition/cost/demand.h"
#include "queue/failure.h"
#include "queue/fuse.h"
#include "queue/room.h"
#include "queue/steps.h"

#include <stdlib.h>

/** What a window did. */
typedef struct outcome {
    int64_t n_launches; /* that are done */
    double plan_s;
    polytile_report report; /* of all runs together */
} outcome;

/** Kernels that run on the arrays themselves have them in reach. */
static polytile_status open_operands(polytile_queue *queue, const pti_prepared *prepared) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < prepared->n_arrays; a++)
        PTI_TRY(pti_guard_open(queue->object.context, &queue->held[prepared->position[a]].guard));
done:
    return status;
}

static void close_operands(polytile_queue *queue, const pti_prepared *prepared) {
    for (int a = 0; a < prepared->n_arrays; a++)
        pti_close_guard(queue, prepared->position[a]);
}

static int count_items(const pti_item *window) {
    int n_items = 0;
    for (const pti_item *item = window; item != NULL; item = item->next)
        n_items++;
    return n_items;
}

/** Run a schedule of some launches where their arrays are. */
static polytile_status execute_in_place(polytile_queue *queue, const pti_schedule *schedule,
                                        const pti_body *bodies, polytile_array *const *arrays,
                                        outcome *of) {
    polytile_report report = {0};
    queue->device->is_running = true;
    polytile_status status = pti_execute(queue->device, schedule, bodies, arrays, &report);
    queue->device->is_running = false;
    pti_report_add(&of->report, &report);
    return status;
}

static polytile_status execute_launch(polytile_queue *queue, const pti_prepared *prepared,
                                      outcome *of) {
    polytile_array *arrays[PTI_MAX_OPERANDS];
    for (int a = 0; a < prepared->n_arrays; a++)
        arrays[a] = queue->held[prepared->position[a]].array;
    return execute_in_place(queue, prepared->in_place, &prepared->body, arrays, of);
}

/** Every array by its position; a nobody at free ones. */
static polytile_status execute_chain(polytile_queue *queue, const pti_schedule *schedule,
                                     const pti_steps *part, outcome *of) {
    polytile_array nobody = {.state = PTI_ARRAY_COMPLETE};
    polytile_array **arrays = calloc((size_t)queue->n_held + 1, sizeof *arrays);
    if (arrays == NULL)
        return pti_fail_memory(queue->object.context, part->name,
                               (double)queue->n_held * (double)sizeof *arrays);
    for (int p = 0; p < queue->n_held; p++)
        arrays[p] = queue->held[p].array == NULL ? &nobody : queue->held[p].array;
    polytile_status status = execute_in_place(queue, schedule, part->body, arrays, of);
    free(arrays);
    return status;
}

static polytile_status open_all(polytile_queue *queue, const pti_steps *part) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < part->n_steps; k++)
        PTI_TRY(open_operands(queue, part->prepared[k]));
done:
    return status;
}

static void close_all(polytile_queue *queue, const pti_steps *part, polytile_status status) {
    pti_error first = {0};
    pti_error_keep(&first, queue->object.context, status);
    for (int k = 0; k < part->n_steps; k++)
        close_operands(queue, part->prepared[k]);
    pti_error_restore(queue->object.context, &first);
}

static polytile_status run_launch_in_place(polytile_queue *queue, const pti_steps *part,
                                           outcome *of) {
    polytile_status status;
    PTI_TRY(open_all(queue, part));
    status = execute_launch(queue, part->prepared[0], of);
done:
    close_all(queue, part, status);
    return status;
}

static polytile_status run_chain_in_place(polytile_queue *queue, const pti_steps *part,
                                          pti_fused *fused, outcome *of) {
    polytile_status status;
    pti_schedule *schedule = pti_portion_build(&fused->request, &fused->portion);
    if (schedule == NULL)
        return pti_fail_memory(queue->object.context, part->name,
                               (double)fused->portion.n_launches *
                                   (double)sizeof *fused->portion.launch);
    PTI_TRY(open_all(queue, part));
    status = execute_chain(queue, schedule, part, of);
done:
    close_all(queue, part, status);
    pti_schedule_free(schedule);
    return status;
}

/** Run the launch at a step, or the chain that begins with it; *at becomes the next step. */
static polytile_status advance_in_place(polytile_queue *queue, const pti_steps *steps, int *at,
                                        outcome *of) {
    polytile_status status;
    pti_fused fused;
    double start_s = pti_now_s();
    PTI_TRY(pti_fuse_find(queue, steps, *at, &fused));
    of->plan_s += pti_now_s() - start_s;
    const pti_portion *portion = &fused.portion;
    int n_launches = portion->n_launches > 0 ? portion->n_launches : portion->n_single;
    for (int l = 0; portion->n_launches == 0 && l < n_launches; l++) {
        pti_steps part = pti_steps_part(steps, *at + l, *at + l + 1);
        PTI_TRY(run_launch_in_place(queue, &part, of));
        of->n_launches++;
    }
    if (portion->n_launches > 0) {
        pti_steps part = pti_steps_part(steps, *at, *at + n_launches);
        PTI_TRY(run_chain_in_place(queue, &part, &fused, of));
        of->n_launches += n_launches;
    }
    *at += n_launches;
done:
    pti_fused_free(&fused);
    return status;
}

/** Arrays that lost elements before, and were overwritten whole since, are complete again. */
static void restore_complete(const polytile_queue *queue, const pti_prepared *prepared) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        polytile_array *array = queue->held[prepared->position[a]].array;
        if (!pti_array_is_complete(array) && prepared->instance->operand[a].writes &&
            pti_completeness_is_overwritten(prepared->instance, a))
            pti_array_set_complete(array, true);
    }
}

static void note_complete(const polytile_queue *queue, const pti_item *window) {
    for (const pti_item *item = window; item != NULL; item = item->next) {
        if (item->kind == PTI_ITEM_DISCARD)
            pti_array_set_state(queue->held[item->position].array, PTI_ARRAY_DISCARDED);
        else if (item->kind == PTI_ITEM_LAUNCH)
            restore_complete(queue, item->prepared);
    }
}

/** Only launches have anything to do here: an array's memory is the only place that it has. */
static polytile_status run_in_place(polytile_queue *queue, const pti_item *window, outcome *of) {
    polytile_status status = POLYTILE_OK;
    pti_steps steps;
    if (!pti_steps_create(count_items(window), &steps))
        PTI_TRY(pti_fail_memory(queue->object.context, "queue",
                                (count_items(window) + 1) * (double)sizeof *steps.step));
    for (const pti_item *item = window; item != NULL; item = item->next) {
        if (item->kind == PTI_ITEM_LAUNCH)
            pti_steps_add_launch(&steps, item->prepared);
    }
    for (int at = 0; at < steps.n_steps;)
        PTI_TRY(advance_in_place(queue, &steps, &at, of));
    note_complete(queue, window);
done:
    pti_steps_free(&steps);
    return status;
}

static void add_step(const pti_item *item, pti_steps *steps) {
    switch (item->kind) {
    case PTI_ITEM_LAUNCH:
        pti_steps_add_launch(steps, item->prepared);
        break;
    case PTI_ITEM_FLUSH:
        pti_steps_add(steps, PTI_STEP_FLUSH, item->position, NULL);
        break;
    case PTI_ITEM_DROP:
        pti_steps_add(steps, PTI_STEP_DROP, item->position, NULL);
        break;
    case PTI_ITEM_FETCH:
        pti_steps_add(steps, PTI_STEP_FETCH, item->position, &item->boxes);
        break;
    case PTI_ITEM_RENEW:
    case PTI_ITEM_DISCARD:
        pti_steps_add(steps, PTI_STEP_RENEW, item->position, &item->boxes);
        break;
    }
}

/** What is fetched of an array of the queue's own has somewhere to go. */
static polytile_status add_steps(polytile_queue *queue, const pti_item *window, pti_steps *steps) {
    polytile_status status = POLYTILE_OK;
    for (const pti_item *item = window; item != NULL; item = item->next) {
        if (item->kind == PTI_ITEM_FETCH && queue->held[item->position].array->is_internal)
            PTI_TRY(pti_queue_spill(queue, queue->held[item->position].array));
        add_step(item, steps);
    }
done:
    return status;
}

static int count_launches(const pti_item *window) {
    int n_launches = 0;
    for (; window != NULL; window = window->next)
        n_launches += window->kind == PTI_ITEM_LAUNCH;
    return n_launches;
}

/** Room is planning too, but for what it has to move. */
static polytile_status make_room(polytile_queue *queue, const pti_item *window, outcome *of) {
    double start_s = pti_now_s();
    polytile_status status = pti_room_make(queue, window, &of->report);
    of->plan_s += pti_now_s() - start_s - of->report.total_s;
    return status;
}

static polytile_status run_on_device(polytile_queue *queue, const pti_item *window, outcome *of) {
    polytile_status status = POLYTILE_OK;
    pti_steps steps;
    if (!pti_steps_create(count_items(window), &steps))
        PTI_TRY(pti_fail_memory(queue->object.context, "queue",
                                (count_items(window) + 1) * (double)sizeof *steps.step));
    PTI_TRY(make_room(queue, window, of));
    PTI_TRY(add_steps(queue, window, &steps));
    pti_steps_note_behind(&steps, queue);
    status = pti_steps_run(queue, &steps);
    pti_report_add(&of->report, &steps.report);
    of->plan_s += steps.plan_s;
    if (status == POLYTILE_OK) {
        note_complete(queue, window);
        of->n_launches += count_launches(window);
    }
done:
    pti_steps_free(&steps);
    if (status == POLYTILE_OK)
        return status;
    pti_leave_nothing(queue, status, &of->report);
    pti_lose_buried(queue, status);
    pti_engine_pass(queue, window);
    return status;
}

void pti_engine_pass(polytile_queue *queue, const pti_item *items) {
    for (const pti_item *item = items; item != NULL; item = item->next) {
        if (item->kind == PTI_ITEM_DISCARD)
            pti_array_set_state(queue->held[item->position].array, PTI_ARRAY_DISCARDED);
        if (queue->residency != NULL && pti_item_only_tells(item))
            pti_residency_note_written(queue->residency, item->position, &item->boxes);
    }
}

static void add_to_report(polytile_queue *queue, const outcome *of, double taken_s) {
    polytile_queue_report *report = &queue->report;
    pthread_mutex_lock(&queue->mutex);
    report->n_launches += of->n_launches;
    report->n_kernels += of->report.n_kernels;
    report->h2d_bytes += of->report.h2d_bytes;
    report->d2h_bytes += of->report.d2h_bytes;
    report->p2p_bytes += of->report.p2p_bytes;
    report->peak_device_bytes = pti_max(report->peak_device_bytes, of->report.peak_device_bytes);
    report->plan_s += of->plan_s;
    report->run_s += taken_s;
    report->compute_s += of->report.compute_s;
    report->transfer_s += of->report.transfer_s;
    pthread_mutex_unlock(&queue->mutex);
}

polytile_status pti_engine_run(polytile_queue *queue, const pti_item *window) {
    double start_s = pti_now_s();
    outcome of = {0};
    polytile_status status = queue->residency == NULL ? run_in_place(queue, window, &of)
                                                      : run_on_device(queue, window, &of);
    add_to_report(queue, &of, pti_now_s() - start_s);
    return status;
}
