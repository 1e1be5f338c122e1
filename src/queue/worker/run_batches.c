#include "queue/worker/run_batches.h"

#include "base/clock.h"
#include "launch/device/lanes.h"
#include "launch/device/trace.h"
#include "launch/peers/newer.h"
#include "partition/schedule/builder.h"
#include "partition/window/engine.h"
#include "queue/worker/failure.h"
#include "queue/worker/steps.h"
#include <polytile/size.h>

#include <stdlib.h>

/** Items that are run. */
typedef struct runner {
    polytile_queue *queue;
    polytile_report *report; /* what was done is added */
    pti_steps steps;
    pti_bindings bindings;
    pti_fusion_group group; /* the last that was found */
    bool passes_gate; /* they are a window's: what brings all back after a failure waits for none */
} runner;

static const char *text_or(const char *text, const char *other) {
    return text == NULL ? other : text;
}

/* Fusion groups. */

/** Return whether a launch comes after a step. */
static bool has_later_launch(const pti_step_window *window, int step) {
    int k = step + 1;
    while (k < window->n_steps && window->step[k].kind != PTI_STEP_LAUNCH)
        k++;
    return k < window->n_steps;
}

/** Say why launches were not even looked at together; where all arrays stay, or none moves, they
 * lack nothing. */
static void describe_apart(const pti_step_window *window, int first, const pti_fusion_group *group,
                           pti_text *words) {
    if (group->n_launches > 0 || group->is_resident || window->residency == NULL)
        return;
    if (group->n_single > 1)
        pti_text_add(words, "%d launches are not fused: one launch a pass was asked for",
                     group->n_single);
    else if (window->n_launches == 1)
        pti_text_add(words, "not fused: no other launch is queued with it");
    else if (has_later_launch(window, first))
        pti_text_add(words,
                     "not fused: between it and the next launch arrays leave, or elements of "
                     "them come to the host or from it");
}

static void log_group(polytile_context *ctx, const pti_step_window *window, int first,
                      const pti_fusion_group *group) {
    pti_text words = {0};
    pti_fusion_group_describe(window, first, group, &words);
    if (words.data == NULL)
        describe_apart(window, first, group, &words);
    if (words.data != NULL)
        pti_log(ctx, PTI_LOG_INFO, "%s: %s", window->step[first].call.instance->kernel_name,
                words.data);
    pti_text_free(&words);
}

static polytile_status find_fusion_group(void *of, const pti_step_window *window, int first,
                                         pti_fusion_group **group) {
    runner *r = of;
    polytile_context *ctx = r->queue->object.context;
    double start_s = pti_now_s();
    pti_fusion_group_free(&r->group);
    polytile_status status = pti_fusion_group_find(window, first, &r->group);
    if (status == POLYTILE_OK)
        log_group(ctx, window, first, &r->group);
    r->report->plan_s += pti_now_s() - start_s;
    pti_trace_plan(r->queue->device, "what is fused", start_s);
    *group = &r->group;
    return status == POLYTILE_OK
               ? status
               : pti_fail(ctx, status,
                          "%s: host memory ran out while %d launches were looked at together; free "
                          "some, or wait for the queue more often",
                          text_or(r->steps.name, "queue"), window->n_launches);
}

/* Batches. */

/** The first launch's name. */
static const char *name_of_batch(const pti_batch *batch) {
    for (int k = 0; k < batch->n_steps && batch->n_launches > 0; k++)
        if (batch->step[k].kind == PTI_STEP_LAUNCH)
            return batch->step[k].call.instance->kernel_name;
    return "moving arrays";
}

static polytile_status explain_batch_failure(void *of, const pti_batch *batch,
                                             polytile_status status) {
    const polytile_queue *queue = ((runner *)of)->queue;
    polytile_context *ctx = queue->object.context;
    char size[32];
    if (status == POLYTILE_NO_MEMORY)
        return pti_fail(ctx, status,
                        "%s: host memory ran out while %d launches were planned together; free "
                        "some, or use fewer and larger superblocks",
                        name_of_batch(batch), batch->n_launches);
    if (status == POLYTILE_UNSUPPORTED)
        return pti_fail(ctx, status,
                        "%s: the transfers of %d launches within the %s of %s are " PTI_FULL
                        "; give it more memory, or declare what sections touch far apart in one "
                        "array as two arrays",
                        name_of_batch(batch), batch->n_launches,
                        polytile_size_format(queue->arena_bytes, size), pti_queue_text(queue),
                        PTI_FULL_NUMBERS);
    return pti_fail(ctx, status,
                    "%s: a superblock of one of %d launches that were planned together needs more "
                    "than the %s of %s; please report it",
                    name_of_batch(batch), batch->n_launches,
                    polytile_size_format(queue->arena_bytes, size), pti_queue_text(queue));
}

/** Let launches run in tiles, and log what became of those that might. */
static polytile_status tile_batch(const runner *r, pti_batch *batch) {
    pti_text words = {0};
    polytile_status status = pti_batch_tile(batch, &words);
    if (status == POLYTILE_OK && words.data != NULL)
        pti_log(r->queue->object.context, PTI_LOG_INFO, "%s", words.data);
    pti_text_free(&words);
    return status;
}

static polytile_status plan_batch(runner *r, pti_batch *batch) {
    double start_s = pti_now_s();
    polytile_status status = pti_batch_plan(batch);
    if (status == POLYTILE_OK)
        status = tile_batch(r, batch);
    if (status == POLYTILE_OK && batch->built == NULL)
        status = pti_batch_interleave(batch);
    r->report->plan_s += pti_now_s() - start_s;
    pti_trace_plan(r->queue->device, name_of_batch(batch), start_s);
    return status == POLYTILE_OK ? status : explain_batch_failure(r, batch, status);
}

/** Return whether elements come to the device, where linked devices may have them newer. */
static bool may_pull(const runner *r, const pti_batch *batch) {
    bool brings = false;
    for (int k = 0; k < batch->n_steps; k++)
        brings |= batch->step[k].kind == PTI_STEP_BRING;
    return brings && r->queue->device->peer != NULL;
}

static bool has_pulled(const polytile_queue *queue) {
    bool has = false;
    for (int p = 0; p < queue->n_arrays && !has; p++)
        has = queue->array[p].pulled.n_boxes > 0;
    return has;
}

/** Check that nothing uploads what was pulled: it stays until it is forgotten, since the host does
 * not have it. */
static polytile_status check_pulled(const runner *r, const pti_batch *batch) {
    const polytile_queue *queue = r->queue;
    const pti_schedule *schedule = batch->schedule;
    if (!has_pulled(queue))
        return POLYTILE_OK;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        const int position = op->kind == PTI_UPLOAD && !schedule->in_place
                                 ? schedule->placement[op->placement].operand
                                 : queue->n_arrays;
        if (position < queue->n_arrays && pti_boxes_meet(&queue->array[position].pulled, &op->box))
            return pti_fail(queue->object.context, POLYTILE_INTERNAL,
                            "%s: elements of %s that another device has newer than the host were "
                            "to be uploaded; please report it",
                            name_of_batch(batch), queue->array[position].array->name);
    }
    return POLYTILE_OK;
}

static polytile_status refuse_pull(const runner *r, const char *name, const char *what) {
    return pti_fail(r->queue->object.context, POLYTILE_INTERNAL,
                    "%s: to get elements of other devices, %s; please report it", name, what);
}

/** Check that a batch that pulls makes no room: others copy what the device published from where it
 * lies, and the host's memory may have newer elements than it. */
static polytile_status check_pulling(const runner *r, const pti_batch *batch) {
    const pti_schedule *schedule = batch->schedule;
    for (int64_t k = 0; k < schedule->n_ops; k++)
        if (schedule->op[k].kind == PTI_DOWNLOAD)
            return refuse_pull(r, name_of_batch(batch), "others were to come to the host");
    for (int64_t k = 0; k < schedule->n_placements && !schedule->in_place; k++) {
        const pti_placement *placement = &schedule->placement[k];
        const polytile_array *array = r->queue->array[placement->operand].array;
        if (pti_peers_would_overwrite(r->queue->device, array, placement))
            return refuse_pull(r, array->name, "it was to lie where other devices copy from");
    }
    return POLYTILE_OK;
}

/** Return whether a step of a batch asks for elements of an array. */
static bool is_asked_for(const pti_batch *batch, int position) {
    bool is = false;
    for (int k = 0; k < batch->n_steps && !is; k++)
        is = batch->step[k].position == position &&
             (batch->step[k].kind == PTI_STEP_FETCH || batch->step[k].kind == PTI_STEP_FLUSH);
    return is;
}

static bool must_keep(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    const bool must = queue->keeps;
    pthread_mutex_unlock(&queue->mutex);
    return must;
}

/** Check that nothing comes to the host unasked where others may still read what it has, with
 * POLYTILE_CHECK=plan. */
static polytile_status check_kept(const runner *r, const pti_batch *batch) {
    polytile_queue *queue = r->queue;
    const pti_schedule *schedule = batch->schedule;
    if (!r->passes_gate || schedule->in_place ||
        !pti_get_settings(queue->object.context)->check_plan || !must_keep(queue))
        return POLYTILE_OK;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        const int position =
            op->kind == PTI_DOWNLOAD ? schedule->placement[op->placement].operand : -1;
        if (position >= 0 && !is_asked_for(batch, position))
            return pti_fail(queue->object.context, POLYTILE_INTERNAL,
                            "%s: elements of %s were to come to the host, where others may still "
                            "read older ones; please report it",
                            name_of_batch(batch), queue->array[position].array->name);
    }
    return POLYTILE_OK;
}

/** Run a batch. The schedule of a single launch in place has operands for arrays; others have all
 * positions. */
static polytile_status run_batch_schedule(runner *r, const pti_batch *batch) {
    bool is_alone = r->queue->residency == NULL && batch->group == NULL;
    const bool is_pulling = may_pull(r, batch);
    polytile_status status;
    PTI_TRY(is_pulling ? check_pulling(r, batch) : check_pulled(r, batch));
    PTI_TRY(check_kept(r, batch));
    if (is_pulling)
        pti_peers_set_pulling(r->queue->device, true);
    status =
        pti_run_schedule(&r->bindings, batch->schedule, is_alone ? batch->step->call.array : NULL,
                         r->steps.config + batch->first_launch, r->report);
    if (is_pulling)
        pti_peers_set_pulling(r->queue->device, false);
done:
    return status;
}

/** Steps wrote these arrays: their newest elements exist again. */
static void clear_buried(polytile_queue *queue, const pti_batch *batch) {
    for (int k = 0; k < batch->n_steps; k++) {
        const pti_call *call = &batch->step[k].call;
        for (int o = 0; call->instance != NULL && o < call->instance->n_operands; o++) {
            if (call->instance->operand[o].writes)
                queue->array[call->array[o]].is_buried = false;
        }
    }
}

/** Note the arrays of which a chain left nothing, since launches after it overwrite them. */
static void bury_overwritten(polytile_queue *queue, const pti_fusion_group *group) {
    for (int a = 0; a < group->n_arrays && a < queue->n_arrays; a++)
        queue->array[a].is_buried |= group->dropped[a];
}

/** The bytes that a batch's launches touch. */
static double count_bytes(const pti_batch *batch) {
    double n_bytes = 0;
    for (int k = 0; batch->n_launches > 0 && k < batch->n_steps; k++)
        n_bytes += batch->window->asked[batch->first + k].touched_bytes;
    return n_bytes;
}

/** Note that a batch begins, and that the one before it is done. */
static void note_batch(polytile_queue *queue, const pti_batch *batch) {
    const double n_bytes = count_bytes(batch);
    pthread_mutex_lock(&queue->mutex);
    __atomic_store_n(&queue->device->n_ops_done, 0, __ATOMIC_RELAXED);
    queue->work_left.window_bytes += queue->work_left.batch_bytes;
    queue->work_left.batch_bytes = n_bytes;
    pthread_mutex_unlock(&queue->mutex);
}

/** Note how long launches took, if they are all alike; of a chain that tells nothing. */
static void note_lanes(runner *r, const pti_batch *batch, double seconds) {
    const pti_step *first = NULL;
    int64_t n_lanes = 0;
    uint64_t key = 0;
    for (int k = 0; k < batch->n_steps; k++) {
        const pti_step *step = &batch->step[k];
        if (step->kind != PTI_STEP_LAUNCH)
            continue;
        if (first != NULL && first->serial != step->serial)
            return;
        first = step;
        n_lanes = batch->window->asked[batch->first + k].options->n_streams;
        key = pti_lanes_key(step->call.instance->declaration_hash, &step->call.instance->threads);
    }
    if (first == NULL)
        return;
    if (batch->group == NULL && pti_lanes_are_told(batch->schedule, n_lanes))
        pti_lanes_note(r->queue->device, key, n_lanes, seconds / batch->n_launches);
    else
        pti_lanes_note_untold(r->queue->device, key);
}

static polytile_status plan_and_run(runner *r, pti_batch *batch) {
    const double run_before_s = r->report->run_s;
    polytile_status status;
    note_batch(r->queue, batch);
    pti_bindings_reset(&r->bindings);
    PTI_TRY(plan_batch(r, batch));
    if (r->passes_gate)
        PTI_TRY(pti_queue_pass_gate(r->queue));
    if (batch->schedule->n_ops > 0)
        PTI_TRY(run_batch_schedule(r, batch));
    note_lanes(r, batch, r->report->run_s - run_before_s);
    clear_buried(r->queue, batch);
    if (pti_batch_streams(batch))
        bury_overwritten(r->queue, batch->group);
    r->report->n_launches += batch->n_launches;
done:
    return status;
}

static polytile_status run_batch(void *of, pti_batch *batch) {
    runner *r = of;
    polytile_queue *queue = r->queue;
    if (queue->residency == NULL)
        return plan_and_run(r, batch);
    bool *is_lost = pti_dirty_list(queue);
    if (is_lost == NULL)
        return pti_fail_memory(queue->object.context, "queue", queue->n_arrays);
    polytile_status status = plan_and_run(r, batch);
    if (status != POLYTILE_OK)
        pti_lose_batch(&r->bindings, batch->schedule, is_lost, r->report, status);
    free(is_lost);
    return status;
}

/* Items. */

static polytile_status begin_runner(const pti_item *items, runner *r) {
    polytile_status status;
    PTI_TRY(pti_bindings_create(r->queue, &r->bindings));
    PTI_TRY(pti_steps_create(r->queue, items, &r->steps));
done:
    return status;
}

static void end_runner(runner *r) {
    pti_fusion_group_free(&r->group);
    pti_bindings_free(&r->bindings);
    pti_steps_free(&r->steps);
}

static pti_consumer consumer_of(runner *r) {
    return (pti_consumer){r, find_fusion_group, NULL, run_batch, explain_batch_failure};
}

polytile_status pti_run_items(polytile_queue *queue, const pti_item *items,
                              polytile_report *report) {
    runner r = {.queue = queue, .report = report, .passes_gate = true};
    pti_consumer consumer = consumer_of(&r);
    polytile_status status;
    PTI_TRY(begin_runner(items, &r));
    PTI_TRY(pti_engine_run(&r.steps.window, 0, &consumer));
done:
    end_runner(&r);
    return status;
}

polytile_status pti_queue_flush(polytile_queue *queue, polytile_report *report) {
    double plan_s = report->plan_s;
    runner r = {.queue = queue, .report = report};
    pti_consumer consumer = consumer_of(&r);
    polytile_status status;
    PTI_TRY(begin_runner(NULL, &r));
    status = pti_engine_flush(&r.steps.window, &consumer);
done:
    end_runner(&r);
    report->plan_s = plan_s;
    return status;
}

polytile_status pti_evict_all(polytile_queue *queue, polytile_status status,
                              polytile_report *report) {
    polytile_context *ctx = queue->object.context;
    pti_error first = {0};
    pti_error_keep(&first, ctx, status);
    polytile_status flushed = pti_queue_flush(queue, report);
    if (flushed == POLYTILE_OK)
        return pti_error_restore(ctx, &first);
    bool *was_dirty = pti_dirty_list(queue);
    pti_lose(queue, was_dirty, flushed);
    free(was_dirty);
    return pti_error_restore_both(ctx, &first);
}
