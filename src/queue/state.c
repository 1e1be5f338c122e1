#include "message/server.h"
#include "queue/check_access.h"
#include "queue/queue.h"

#include <stdlib.h>

/* What all of a queue stands on: making one, its name, and who may call it. */

const char *pti_queue_text(const polytile_queue *queue) {
    return queue->text == NULL ? queue->device->text : queue->text;
}

bool pti_queue_is_own_thread(const polytile_queue *queue) {
    if (queue->group_functions != NULL)
        return pti_errors_are_redirected();
    return queue->has_thread && pthread_equal(pthread_self(), queue->thread);
}

polytile_status pti_queue_enter(const polytile_queue *queue) {
    if (queue == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "the queue is NULL; create one first");
    if (pti_queue_is_own_thread(queue))
        return pti_fail(
            queue->object.context, POLYTILE_INVALID,
            "queue on %s: it runs the launcher, or calls the function, that calls it; a "
            "launcher can use other devices and no queue, a function neither",
            pti_queue_text(queue));
    pti_clear_error(queue->object.context);
    return POLYTILE_OK;
}

bool pti_queue_may_end(const pti_object *object) {
    const polytile_queue *queue = (const polytile_queue *)object;
    if (pti_queue_enter(queue) == POLYTILE_OK)
        return true;
    pti_log(object->context, PTI_LOG_ERROR, "not destroyed: %s",
            polytile_last_error(object->context));
    return false;
}

/** Work is waited for by a clock that nobody sets. */
static void create_work_condition(polytile_queue *queue) {
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->work, &steady);
    pthread_condattr_destroy(&steady);
}

polytile_queue *pti_queue_allocate(polytile_context *ctx, const pti_queue_ends *ends) {
    polytile_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    pthread_mutex_init(&queue->mutex, NULL);
    create_work_condition(queue);
    pthread_cond_init(&queue->done, NULL);
    queue->window_items = PTI_WINDOW_ITEMS;
    queue->ends = ends;
    pti_object_adopt(ctx, &queue->object, ends->destroy);
    queue->object.may_end = pti_queue_may_end;
    queue->object.drain = ends->drain;
    return queue;
}

void pti_queue_free(polytile_queue *queue) {
    pthread_cond_destroy(&queue->done);
    pthread_cond_destroy(&queue->work);
    pthread_mutex_destroy(&queue->mutex);
    pti_queue_forget_newest(queue);
    pti_server_release(queue->server);
    for (int p = 0; p < queue->n_arrays; p++)
        pti_boxes_free(&queue->array[p].pulled);
    free(queue->array);
    free(queue->later_item);
    free(queue->text);
    free(queue);
}

void pti_queue_report_unread(polytile_queue *queue) {
    polytile_context *ctx = queue->object.context;
    if (pti_queue_take_error(queue) != POLYTILE_OK)
        pti_log(ctx, PTI_LOG_ERROR, "queue on %s, which is destroyed: %s", pti_queue_text(queue),
                polytile_last_error(ctx));
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
