#include "queue/failure.h"

#include "base/text.h"

#include <stdlib.h>

bool *pti_dirty_list(const polytile_queue *queue) {
    bool *is_dirty = calloc((size_t)queue->n_held + 1, sizeof *is_dirty);
    for (int p = 0; is_dirty != NULL && p < queue->n_held; p++)
        is_dirty[p] = queue->held[p].array != NULL && pti_residency_is_dirty(queue->residency, p);
    return is_dirty;
}

polytile_status pti_lose(polytile_queue *queue, const bool *is_lost, polytile_status status) {
    pti_text names = {0};
    pti_residency_forget(queue->residency);
    for (int p = 0; p < queue->n_held; p++) {
        polytile_array *array = queue->held[p].array;
        if (array == NULL || (is_lost != NULL && !is_lost[p] && !queue->held[p].is_buried))
            continue;
        queue->held[p].is_buried = false;
        pti_array_set_complete(array, false);
        pti_text_add(&names, "%s%s", names.length == 0 ? "" : ", ", array->name);
    }
    pti_error_add_incomplete(queue->object.context, status, &names);
    return status;
}

void pti_lose_buried(polytile_queue *queue, polytile_status status) {
    int p = 0;
    while (p < queue->n_held && !queue->held[p].is_buried)
        p++;
    if (p == queue->n_held)
        return;
    bool *is_lost = calloc((size_t)queue->n_held, sizeof *is_lost);
    pti_lose(queue, is_lost, status);
    free(is_lost);
}

polytile_status pti_queue_give_up(polytile_queue *queue, polytile_status status) {
    pti_error first = {0};
    if (queue == NULL)
        return status;
    polytile_context *ctx = queue->object.context;
    pti_error_keep(&first, ctx, status);
    pti_object_release(&queue->object);
    return pti_error_restore(ctx, &first);
}
