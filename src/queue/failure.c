#include "queue/failure.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool *pti_dirty_list(const polytile_queue *queue) {
    bool *is_dirty = calloc((size_t)queue->n_held + 1, sizeof *is_dirty);
    for (int p = 0; is_dirty != NULL && p < queue->n_held; p++)
        is_dirty[p] = queue->held[p].array != NULL && pti_residency_is_dirty(queue->residency, p);
    return is_dirty;
}

polytile_status pti_lose(polytile_queue *queue, const bool *is_lost, polytile_status status) {
    polytile_context *ctx = queue->object.context;
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
    if (names.length > 0 && !names.failed)
        pti_fail(ctx, status, "%s; left incomplete: %s", polytile_last_error(ctx), names.data);
    pti_text_free(&names);
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

char *pti_error_keep(const polytile_queue *queue, polytile_status status) {
    return status == POLYTILE_OK ? NULL : strdup(polytile_last_error(queue->object.context));
}

void pti_error_restore(const polytile_queue *queue, polytile_status status, char *kept) {
    if (kept != NULL)
        pti_fail(queue->object.context, status, "%s", kept);
    free(kept);
}

polytile_status pti_queue_give_up(polytile_queue *queue, polytile_status status) {
    char text[PTI_ERROR_BYTES];
    if (queue == NULL)
        return status;
    polytile_context *ctx = queue->object.context;
    snprintf(text, sizeof text, "%s", polytile_last_error(ctx));
    pti_object_release(&queue->object);
    return pti_fail(ctx, status, "%s", text);
}
