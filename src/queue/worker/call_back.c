#include "queue/worker/worker.h"

/** Let the program's function read what was fetched. */
static void call_user(polytile_queue *queue, const pti_item *item, polytile_status status) {
    polytile_context *ctx = queue->object.context;
    pti_error first = {0};
    pti_error_keep(&first, ctx, status);
    pti_guard *guard = &queue->array[item->position].guard;
    if (pti_guard_open(ctx, guard) != POLYTILE_OK)
        pti_log(ctx, PTI_LOG_ERROR, "%s", polytile_last_error(ctx));
    item->callback(status, item->user);
    pti_close_guard(queue, item->position);
    pti_error_restore(ctx, &first);
}

void pti_queue_call_back(polytile_queue *queue, const pti_item *items, polytile_status status) {
    for (const pti_item *item = items; item != NULL; item = item->next) {
        if (item->callback != NULL)
            call_user(queue, item, status);
    }
}
