#include "queue/queue.h"

#include "queue/leave.h"

#include <stdlib.h>

static void report_unread_error(polytile_queue *queue) {
    polytile_context *ctx = queue->object.context;
    if (pti_queue_take_error(queue) != POLYTILE_OK)
        pti_log(ctx, PTI_LOG_ERROR, "queue on %s, which is destroyed: %s", queue->device->text,
                polytile_last_error(ctx));
}

static void close_device(polytile_queue *queue) {
    if (queue->device != NULL)
        pti_object_release(&queue->device->object);
}

static void destroy(pti_object *object) {
    polytile_queue *queue = (polytile_queue *)object;
    pti_queue_end_arrays(queue);
    report_unread_error(queue);
    if (queue->has_thread)
        pti_worker_stop(queue);
    pti_queue_forget_prepared(queue, -1);
    pti_residency_free(queue->residency);
    close_device(queue);
    pthread_cond_destroy(&queue->done);
    pthread_cond_destroy(&queue->work);
    pthread_mutex_destroy(&queue->mutex);
    free(queue->held);
    free(queue);
}

static void settle_all(polytile_queue *queue) {
    pti_queue_settle(queue, -1);
}

static void drain(pti_object *object) {
    settle_all((polytile_queue *)object);
}

/** Whether the calling thread is another than the queue's own, which would wait for itself. */
static bool may_end(const pti_object *object) {
    const polytile_queue *queue = (const polytile_queue *)object;
    if (pti_queue_enter(queue) == POLYTILE_OK)
        return true;
    pti_log(object->context, PTI_LOG_ERROR, "not destroyed: %s",
            polytile_last_error(object->context));
    return false;
}

/** A queue without device, thread and arrays; NULL when memory runs out. */
static polytile_queue *allocate(polytile_context *ctx) {
    polytile_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->work, NULL);
    pthread_cond_init(&queue->done, NULL);
    queue->wanted = -1;
    pti_object_adopt(ctx, &queue->object, destroy);
    queue->object.may_end = may_end;
    queue->object.drain = drain;
    return queue;
}

/** Room for what stays on the device, unless kernels run on the host's memory. */
static polytile_status make_residency(polytile_queue *queue) {
    polytile_device *device = queue->device;
    polytile_status status = POLYTILE_OK;
    if (device->reaches_host)
        return POLYTILE_OK;
    PTI_TRY(device->functions->usable(device, &queue->usable_bytes));
    queue->residency = pti_residency_create(queue->usable_bytes);
    if (queue->residency == NULL)
        PTI_TRY(pti_fail_memory(device->object.context, "queue", sizeof *queue));
done:
    return status;
}

polytile_status polytile_queue_create(polytile_context *ctx, const char *device_text,
                                      polytile_queue **queue) {
    polytile_status status;
    polytile_device *device = NULL;
    polytile_queue *made = NULL;
    if (queue != NULL)
        *queue = NULL;
    if (ctx == NULL)
        return POLYTILE_INVALID;
    pti_clear_error(ctx);
    if (queue == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "creating a queue needs a place for it");
    PTI_TRY(polytile_device_open(ctx, device_text, &device));
    made = allocate(ctx);
    if (made == NULL)
        PTI_TRY(pti_fail_memory(ctx, "queue", sizeof *made));
    made->device = device;
    device->queue = made;
    device->settle = settle_all;
    PTI_TRY(make_residency(made));
    PTI_TRY(pti_worker_start(made));
    *queue = made;
done:
    if (status != POLYTILE_OK && made == NULL)
        polytile_device_close(device);
    if (status != POLYTILE_OK)
        polytile_queue_destroy(made);
    return status;
}

static bool is_own_thread(const polytile_queue *queue) {
    return queue->has_thread && pthread_equal(pthread_self(), queue->thread);
}

polytile_status pti_queue_enter(const polytile_queue *queue) {
    if (queue == NULL)
        return POLYTILE_INVALID;
    if (is_own_thread(queue))
        return pti_fail(queue->object.context, POLYTILE_INVALID,
                        "queue on %s: it runs the launcher that calls it; a launcher can use other "
                        "devices and no queue",
                        queue->device->text);
    pti_clear_error(queue->object.context);
    return POLYTILE_OK;
}

void polytile_queue_destroy(polytile_queue *queue) {
    if (queue != NULL && may_end(&queue->object))
        pti_object_release(&queue->object);
}

polytile_device *polytile_queue_get_device(const polytile_queue *queue) {
    return queue == NULL ? NULL : queue->device;
}

polytile_status polytile_queue_wait(polytile_queue *queue) {
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    pti_queue_settle(queue, -1);
    return pti_queue_take_error(queue);
}

polytile_status polytile_queue_wait_for(polytile_queue *queue, polytile_array *array) {
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (array == NULL || array->queue != queue)
        return pti_fail(queue->object.context, POLYTILE_INVALID,
                        "queue on %s: cannot wait for array %s, which is not of this queue; attach "
                        "it first",
                        queue->device->text, array == NULL ? "NULL" : array->name);
    pti_queue_settle(queue, array->position);
    return pti_queue_take_error(queue);
}

static void set_paused(polytile_queue *queue, bool is_paused) {
    if (queue == NULL)
        return;
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

void polytile_queue_get_report(polytile_queue *queue, bool reset, polytile_queue_report *report) {
    polytile_queue_report told = {0};
    if (queue != NULL && !is_own_thread(queue)) {
        pti_queue_settle(queue, -1);
        pthread_mutex_lock(&queue->mutex);
        told = queue->report;
        if (reset)
            queue->report = (polytile_queue_report){0};
        pthread_mutex_unlock(&queue->mutex);
        told.enqueue_s = queue->enqueue_s;
        queue->enqueue_s = reset ? 0 : queue->enqueue_s;
    }
    if (report != NULL)
        *report = told;
}
