#include "queue/leave.h"
#include "queue/outer.h"

#include <stdlib.h>

/** Whether the calling thread is another than the queue's own, which would wait for itself. */
static bool may_end(const pti_object *object) {
    const polytile_queue *queue = (const polytile_queue *)object;
    if (pti_queue_enter(queue) == POLYTILE_OK)
        return true;
    pti_log(object->context, PTI_LOG_ERROR, "not destroyed: %s",
            polytile_last_error(object->context));
    return false;
}

polytile_queue *pti_queue_allocate(polytile_context *ctx, void (*destroy)(pti_object *),
                                   void (*drain)(pti_object *)) {
    polytile_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->work, NULL);
    pthread_cond_init(&queue->done, NULL);
    queue->window_items = PTI_WINDOW_ITEMS;
    pti_object_adopt(ctx, &queue->object, destroy);
    queue->object.may_end = may_end;
    queue->object.drain = drain;
    return queue;
}

void pti_queue_free(polytile_queue *queue) {
    pthread_cond_destroy(&queue->done);
    pthread_cond_destroy(&queue->work);
    pthread_mutex_destroy(&queue->mutex);
    free(queue->held);
    free(queue->behind);
    free(queue->text);
    free(queue);
}

const char *pti_queue_text(const polytile_queue *queue) {
    return queue->text == NULL ? queue->device->text : queue->text;
}

void pti_queue_report_unread(polytile_queue *queue) {
    polytile_context *ctx = queue->object.context;
    if (pti_queue_take_error(queue) != POLYTILE_OK)
        pti_log(ctx, PTI_LOG_ERROR, "queue on %s, which is destroyed: %s", pti_queue_text(queue),
                polytile_last_error(ctx));
}

/** The thread of a member, if there are some, is none of this queue's: no queue's may call it. */
static bool is_own_thread(const polytile_queue *queue) {
    if (queue->outer != NULL)
        return pti_errors_are_redirected();
    return queue->has_thread && pthread_equal(pthread_self(), queue->thread);
}

polytile_status pti_queue_enter(const polytile_queue *queue) {
    if (queue == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "the queue is NULL; create one first");
    if (is_own_thread(queue))
        return pti_fail(queue->object.context, POLYTILE_INVALID,
                        "queue on %s: it runs the launcher that calls it; a launcher can use other "
                        "devices and no queue",
                        pti_queue_text(queue));
    pti_clear_error(queue->object.context);
    return POLYTILE_OK;
}

void polytile_queue_destroy(polytile_queue *queue) {
    if (queue != NULL && may_end(&queue->object))
        pti_object_release(&queue->object);
}

polytile_device *polytile_queue_get_device(const polytile_queue *queue) {
    if (queue == NULL)
        return NULL;
    return queue->outer == NULL ? queue->device : pti_outer_get_device(queue);
}

/** What waiting for an array, or for all with NULL, says. */
static polytile_status wait_for(polytile_queue *queue, polytile_array *array) {
    if (queue->outer != NULL)
        return pti_outer_wait(queue, array);
    if (array == NULL)
        pti_queue_settle_all(queue);
    else
        pti_queue_settle(queue, PTI_WANT_RELATED, 1, &array);
    pti_queue_release_ended(queue);
    return pti_queue_take_error(queue);
}

polytile_status polytile_queue_wait(polytile_queue *queue) {
    return pti_queue_enter(queue) == POLYTILE_OK ? wait_for(queue, NULL) : POLYTILE_INVALID;
}

polytile_status polytile_queue_wait_for(polytile_queue *queue, polytile_array *array) {
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (array == NULL || array->queue != queue)
        return pti_fail(queue->object.context, POLYTILE_INVALID,
                        "queue on %s: cannot wait for array %s, which is not of this queue; attach "
                        "it first",
                        pti_queue_text(queue), array == NULL ? "NULL" : array->name);
    return wait_for(queue, array);
}

static void set_paused(polytile_queue *queue, bool is_paused) {
    if (queue == NULL)
        return;
    if (queue->outer != NULL) {
        queue->outer->set_paused(queue, is_paused);
        return;
    }
    pthread_mutex_lock(&queue->mutex);
    queue->is_paused = is_paused;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->mutex);
}

void polytile_queue_pause(polytile_queue *queue) {
    set_paused(queue, true);
}

void polytile_queue_resume(polytile_queue *queue) {
    set_paused(queue, false);
}

static void take_report(polytile_queue *queue, bool reset, polytile_queue_report *told) {
    pti_queue_settle_all(queue);
    pthread_mutex_lock(&queue->mutex);
    *told = queue->report;
    if (reset)
        queue->report = (polytile_queue_report){0};
    pthread_mutex_unlock(&queue->mutex);
}

void polytile_queue_get_report(polytile_queue *queue, bool reset, polytile_queue_report *report) {
    polytile_queue_report told = {0};
    if (queue != NULL && !is_own_thread(queue)) {
        if (queue->outer != NULL)
            queue->outer->get_report(queue, reset, &told);
        else
            take_report(queue, reset, &told);
        told.enqueue_s = queue->enqueue_s;
        queue->enqueue_s = reset ? 0 : queue->enqueue_s;
    }
    if (report != NULL)
        *report = told;
}
