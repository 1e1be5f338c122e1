#include "queue/worker/failure.h"

#include "base/text.h"
#include "partition/memory/recovery.h"

#include <stdlib.h>

bool *pti_dirty_list(const polytile_queue *queue) {
    bool *is_dirty = calloc((size_t)queue->n_arrays + 1, sizeof *is_dirty);
    for (int p = 0; is_dirty != NULL && p < queue->n_arrays; p++)
        is_dirty[p] = queue->array[p].array != NULL && pti_residency_is_dirty(queue->residency, p);
    return is_dirty;
}

polytile_status pti_lose(polytile_queue *queue, const bool *is_lost, polytile_status status) {
    pti_text names = {0};
    pti_residency_forget(queue->residency);
    for (int p = 0; p < queue->n_arrays; p++) {
        polytile_array *array = queue->array[p].array;
        if (array == NULL || (is_lost != NULL && !is_lost[p] && !queue->array[p].is_buried))
            continue;
        queue->array[p].is_buried = false;
        pti_array_set_complete(array, false);
        pti_text_add(&names, "%s%s", names.length == 0 ? "" : ", ", array->name);
    }
    pti_error_add_incomplete(queue->object.context, status, &names);
    return status;
}

/** Note of what a recovery brought to the host that it is not lost. */
static void note_saved(const polytile_queue *queue, const pti_schedule *recovery,
                       const bool *is_saved, bool *is_lost) {
    for (int k = 0; k < recovery->n_before; k++) {
        const pti_holding *holding = &recovery->before[k];
        pti_residency_keep(queue->residency, recovery->placement[holding->placement].operand,
                           &holding->dirty);
    }
    for (int p = 0; p < queue->n_arrays && p < recovery->instance->n_operands; p++)
        is_lost[p] &= !is_saved[p];
}

/** Should that fail too, all is lost. */
static void recover_arrays(pti_bindings *bindings, const pti_schedule *failed, bool *is_lost,
                           polytile_report *report) {
    bool *is_saved = calloc((size_t)failed->instance->n_operands + 1, sizeof *is_saved);
    const int64_t n_begun = bindings->n_begun;
    pti_bindings_reset(bindings);
    pti_schedule *made = is_saved == NULL ? NULL : pti_recovery_build(failed, n_begun, is_saved);
    if (made != NULL && pti_run_schedule(bindings, made, NULL, NULL, report) == POLYTILE_OK)
        note_saved(bindings->queue, made, is_saved, is_lost);
    pti_schedule_free(made);
    free(is_saved);
}

polytile_status pti_lose_batch(pti_bindings *bindings, const pti_schedule *failed, bool *is_lost,
                               polytile_report *report, polytile_status status) {
    polytile_queue *queue = bindings->queue;
    pti_error first = {0};
    pti_error_keep(&first, queue->object.context, status);
    for (int p = 0; p < queue->n_arrays; p++)
        is_lost[p] |= bindings->has_begun[p];
    if (failed != NULL)
        recover_arrays(bindings, failed, is_lost, report);
    pti_error_restore(queue->object.context, &first);
    return pti_lose(queue, is_lost, status);
}

void pti_lose_buried(polytile_queue *queue, polytile_status status) {
    int p = 0;
    while (p < queue->n_arrays && !queue->array[p].is_buried)
        p++;
    if (p == queue->n_arrays)
        return;
    bool *is_lost = calloc((size_t)queue->n_arrays, sizeof *is_lost);
    pti_lose(queue, is_lost, status);
    free(is_lost);
}
