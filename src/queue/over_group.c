#include "queue/over_group.h"

#include "queue/scratch.h"

#include <stdlib.h>
#include <string.h>

polytile_status pti_group_queue_wait(polytile_queue *queue, polytile_array *array) {
    pti_queue_keep_error(queue, queue->group_functions->wait(queue, array));
    return pti_queue_take_error(queue);
}

/** Wait until nothing runs any more, as a report does. */
static void wait_for_members(polytile_queue *queue) {
    polytile_report report;
    queue->group_functions->get_report(queue, false, &report);
}

/** Who waits for the device waits for all that may come to it. */
polytile_device *pti_group_queue_get_device(const polytile_queue *queue) {
    polytile_device *device = queue->group_functions->get_device(queue, 0);
    device->queue = (polytile_queue *)queue;
    device->wait = wait_for_members;
    return device;
}

polytile_status pti_group_queue_detach(polytile_queue *queue, int n_arrays,
                                       polytile_array *const *arrays) {
    pti_queue_keep_error(queue, queue->group_functions->detach(queue, n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++)
        pti_queue_let_go(queue, arrays[a]);
    return pti_queue_take_error(queue);
}

/** Detach an array that is to be destroyed; errors wait for the next report. */
static bool end_queue_array(polytile_array *array, bool at_once) {
    polytile_queue *queue = array->queue;
    (void)at_once;
    pti_queue_keep_error(queue, queue->group_functions->detach(queue, 1, &array));
    pti_queue_let_go(queue, array);
    return true;
}

/** The most arrays that leave a queue at once when it ends. */
enum { MOST_LEAVING = 256 };

/** List the queue's arrays; returns how many there are. */
static int list_queue_arrays(const polytile_queue *queue, polytile_array **list) {
    int n_arrays = 0;
    for (int p = 0; p < queue->n_arrays && n_arrays < MOST_LEAVING; p++) {
        if (queue->array[p].array != NULL && !queue->array[p].is_scratch)
            list[n_arrays++] = queue->array[p].array;
    }
    return n_arrays;
}

/** Detach arrays at once, so that the last launches are planned knowing what nobody needs any
 * more. */
static void detach_listed(polytile_queue *queue, int n_arrays, polytile_array **list) {
    pti_queue_keep_error(queue, queue->group_functions->detach(queue, n_arrays, list));
    for (int a = 0; a < n_arrays; a++) {
        pti_queue_let_go(queue, list[a]);
        if (list[a]->is_internal)
            pti_object_release(&list[a]->object);
    }
}

/** Detach all arrays without taking memory, and call the group even if there are none: processes
 * whose arrays are not the same, since one of them failed, meet here. */
static void detach_all(polytile_queue *queue) {
    polytile_array *list[MOST_LEAVING];
    int n_arrays;
    do {
        n_arrays = list_queue_arrays(queue, list);
        detach_listed(queue, n_arrays, list);
    } while (n_arrays == MOST_LEAVING);
}

/** End the group with its members, before anything of the context that they use. */
static void close_group(pti_object *object) {
    polytile_queue *queue = (polytile_queue *)object;
    if (queue->is_closed)
        return;
    queue->is_closed = true;
    detach_all(queue);
    pti_queue_keep_error(queue, queue->group_functions->wait(queue, NULL));
    pti_queue_end_scratch(queue);
    pti_queue_report_unread(queue);
    queue->group_functions->close(queue);
}

static void destroy_group_queue(pti_object *object) {
    close_group(object);
    pti_queue_free((polytile_queue *)object);
}

static const pti_queue_ends ends = {
    .destroy = destroy_group_queue, .drain = close_group, .end_array = end_queue_array};

polytile_queue *pti_queue_create_over_group(polytile_context *ctx, const char *text,
                                            const pti_group_functions *functions, void *group) {
    char *copy = strdup(text);
    polytile_queue *made = copy == NULL ? NULL : pti_queue_allocate(ctx, &ends);
    if (made == NULL) {
        free(copy);
        return NULL;
    }
    made->text = copy;
    made->group_functions = functions;
    made->group = group;
    return made;
}
