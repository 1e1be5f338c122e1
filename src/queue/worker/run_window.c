#include "base/clock.h"
#include "launch/device/completeness.h"
#include "queue/worker/failure.h"
#include "queue/worker/run_batches.h"
#include "queue/worker/worker.h"

/** Count the time of resizing the arena as planning, but for what is moved. */
static polytile_status resize_arena(polytile_queue *queue, const pti_item *window,
                                    polytile_report *report) {
    if (queue->residency == NULL)
        return POLYTILE_OK;
    double start_s = pti_now_s();
    polytile_status status = pti_arena_resize(queue, window, report);
    report->plan_s += pti_now_s() - start_s - report->run_s;
    return status;
}

/** Mark arrays complete again that lost elements and were overwritten whole since. */
static void restore_complete(const polytile_queue *queue, const pti_prepared *prepared) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        polytile_array *array = queue->array[prepared->position[a]].array;
        if (prepared->instance->operand[a].writes)
            pti_array_note_launch(array, false);
        if (!pti_array_is_complete(array) && prepared->instance->operand[a].writes &&
            pti_completeness_is_overwritten(prepared->instance, a))
            pti_array_set_complete(array, true);
    }
}

static void note_complete(const polytile_queue *queue, const pti_item *window) {
    for (const pti_item *item = window; item != NULL; item = item->next) {
        if (item->kind == PTI_ITEM_DISCARD)
            pti_array_set_state(queue->array[item->position].array, PTI_ARRAY_DISCARDED);
        else if (item->kind == PTI_ITEM_LAUNCH)
            restore_complete(queue, item->prepared);
    }
}

/** Note what became of the arrays that launches write; the first n_done are done. */
static void note_launches(const polytile_queue *queue, const pti_item *items, int64_t n_done) {
    for (const pti_item *item = items; item != NULL; item = item->next) {
        const pti_prepared *prepared = item->prepared;
        for (int a = 0; item->kind == PTI_ITEM_LAUNCH && a < prepared->n_arrays; a++) {
            if (prepared->instance->operand[a].writes)
                pti_array_note_launch(queue->array[prepared->position[a]].array, n_done <= 0);
        }
        n_done -= item->kind == PTI_ITEM_LAUNCH;
    }
}

/** Note what items that are not run say of the host's memory. */
static void skip_items(polytile_queue *queue, const pti_item *items) {
    for (const pti_item *item = items; item != NULL; item = item->next) {
        if (item->kind == PTI_ITEM_DISCARD)
            pti_array_set_state(queue->array[item->position].array, PTI_ARRAY_DISCARDED);
        if (queue->residency != NULL && pti_item_only_invalidates(item))
            pti_residency_note_written(queue->residency, item->position, &item->boxes);
    }
}

void pti_window_skip(polytile_queue *queue, const pti_item *items) {
    note_launches(queue, items, 0);
    skip_items(queue, items);
}

/** Follow what the device has that the host has not; memory that ran out is a failure. */
static polytile_status note_pulled(polytile_queue *queue, const pti_item *window) {
    bool has_failed = false;
    for (const pti_item *item = window; item != NULL; item = item->next) {
        if (item->kind == PTI_ITEM_LAUNCH)
            continue;
        pti_boxes *pulled = &queue->array[item->position].pulled;
        if (item->kind == PTI_ITEM_BRING)
            pti_boxes_unite(pulled, &item->boxes, pti_boxes_gather);
        else if (item->kind == PTI_ITEM_FLUSH || item->kind == PTI_ITEM_DROP)
            pti_boxes_clear(pulled);
        else if (pti_item_only_invalidates(item))
            pti_boxes_subtract_all(pulled, &item->boxes);
        has_failed |= pulled->failed;
    }
    return has_failed
               ? pti_fail_memory(queue->object.context, "what was pulled", sizeof(polytile_domain))
               : POLYTILE_OK;
}

/** Nothing is left on the device. */
static void forget_pulled(polytile_queue *queue) {
    for (int p = 0; p < queue->n_arrays; p++)
        pti_boxes_clear(&queue->array[p].pulled);
}

/** Leave nothing on the device after a failure, and count none of the window's launches. */
static void abandon_window(polytile_queue *queue, const pti_item *window, polytile_report *report,
                           polytile_status status) {
    note_launches(queue, window, report->n_launches);
    if (queue->residency == NULL)
        return;
    report->n_launches = 0;
    forget_pulled(queue);
    pti_evict_all(queue, status, report);
    pti_lose_buried(queue, status);
    skip_items(queue, window);
}

static polytile_status run_items_of_window(polytile_queue *queue, const pti_item *window,
                                           polytile_report *report) {
    polytile_status status;
    PTI_TRY(resize_arena(queue, window, report));
    PTI_TRY(pti_run_items(queue, window, report));
    note_complete(queue, window);
    PTI_TRY(note_pulled(queue, window));
    PTI_TRY(pti_arena_grow_late(queue, report));
done:
    if (status != POLYTILE_OK)
        abandon_window(queue, window, report, status);
    return status;
}

/** Note which arrays lie whole on the device. The mutex is locked. */
static void note_whole(polytile_queue *queue) {
    const pti_residency *residency = queue->residency;
    const int n_arrays = residency == NULL ? 0 : pti_residency_arrays(residency)->n_operands;
    for (int p = 0; p < queue->n_arrays && p < n_arrays; p++)
        queue->array[p].is_whole =
            queue->array[p].array != NULL && pti_residency_holds_whole(residency, p);
}

polytile_status pti_window_run(polytile_queue *queue, const pti_item *window) {
    double start_s = pti_now_s();
    polytile_report report = {0};
    polytile_status status = run_items_of_window(queue, window, &report);
    pti_queue_publish(queue);
    report.run_s = pti_now_s() - start_s;
    pthread_mutex_lock(&queue->mutex);
    pti_report_add(&queue->report, &report);
    note_whole(queue);
    pthread_mutex_unlock(&queue->mutex);
    return status;
}
