#include "launch/device/trace.h"
#include "queue/detach.h"
#include "queue/over_group.h"

#include <stdlib.h>

/* The public calls on a queue beside those on its arrays (attach.c) and launches (launch.c). */

void polytile_queue_destroy(polytile_queue *queue) {
    if (queue != NULL && pti_queue_may_end(&queue->object))
        pti_object_release(&queue->object);
}

polytile_device *polytile_queue_get_device(const polytile_queue *queue) {
    if (queue == NULL)
        return NULL;
    return queue->group_functions == NULL ? queue->device : pti_group_queue_get_device(queue);
}

/** The devices of a queue, if there is a list; returns how many there are. */
static int list_devices(const polytile_queue *queue, polytile_device **list) {
    const pti_group_functions *group = queue->group_functions;
    int n_devices = 0;
    for (polytile_device *device = group == NULL ? queue->device : group->get_device(queue, 0);
         device != NULL; device = group == NULL ? NULL : group->get_device(queue, n_devices)) {
        if (list != NULL)
            list[n_devices] = device;
        n_devices++;
    }
    return n_devices;
}

static void wait_without_error(polytile_queue *queue) {
    polytile_report report;
    polytile_queue_get_report(queue, false, &report);
}

polytile_status polytile_queue_trace(polytile_queue *queue, const char *path) {
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    polytile_context *ctx = queue->object.context;
    const int n_devices = list_devices(queue, NULL);
    polytile_device **device = calloc((size_t)n_devices, sizeof *device);
    if (device == NULL)
        return pti_fail_memory(ctx, "trace", (double)n_devices * (double)sizeof *device);
    wait_without_error(queue);
    list_devices(queue, device);
    polytile_status status = pti_trace_begin(ctx, n_devices, device, path);
    free(device);
    return status;
}

/** Wait for an array, or for all with NULL, and report. */
static polytile_status wait_for_array(polytile_queue *queue, polytile_array *array) {
    if (queue->group_functions != NULL)
        return pti_group_queue_wait(queue, array);
    if (array == NULL)
        pti_queue_wait_all(queue);
    else
        pti_queue_wait_for(queue, PTI_WANT_RELATED, 1, &array);
    pti_queue_release_ended(queue);
    return pti_queue_take_error(queue);
}

polytile_status polytile_queue_wait(polytile_queue *queue) {
    return pti_queue_enter(queue) == POLYTILE_OK ? wait_for_array(queue, NULL) : POLYTILE_INVALID;
}

polytile_status polytile_queue_wait_for(polytile_queue *queue, polytile_array *array) {
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (array == NULL || array->queue != queue)
        return PTI_QUEUE_REFUSE(
            queue, "cannot wait for array %s, which is not of this queue; attach it first",
            array == NULL ? "NULL" : array->name);
    return wait_for_array(queue, array);
}

static void set_paused(polytile_queue *queue, bool is_paused) {
    if (queue == NULL)
        return;
    if (queue->group_functions != NULL) {
        queue->group_functions->set_paused(queue, is_paused);
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

static void copy_report(polytile_queue *queue, bool reset, polytile_report *current) {
    pti_queue_wait_all(queue);
    pthread_mutex_lock(&queue->mutex);
    *current = queue->report;
    if (reset)
        queue->report = (polytile_report){0};
    pthread_mutex_unlock(&queue->mutex);
}

void polytile_queue_get_report(polytile_queue *queue, bool reset, polytile_report *report) {
    polytile_report current = {0};
    if (queue != NULL && !pti_queue_is_own_thread(queue)) {
        if (queue->group_functions != NULL)
            queue->group_functions->get_report(queue, reset, &current);
        else
            copy_report(queue, reset, &current);
        current.enqueue_s = queue->enqueue_s;
        queue->enqueue_s = reset ? 0 : queue->enqueue_s;
    }
    if (report != NULL)
        *report = current;
}
