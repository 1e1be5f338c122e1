#include "queue/outer.h"

#include <stdlib.h>
#include <string.h>

polytile_status pti_outer_wait(polytile_queue *queue, polytile_array *array) {
    pti_queue_keep_error(queue, queue->outer->wait(queue, array));
    return pti_queue_take_error(queue);
}

/** Reports are told when nothing runs any more. */
static void wait_for_members(polytile_queue *queue) {
    polytile_queue_report report;
    queue->outer->get_report(queue, false, &report);
}

/** Who waits for the device waits for all that may come to it. */
polytile_device *pti_outer_get_device(const polytile_queue *queue) {
    polytile_device *device = queue->outer->get_device(queue);
    device->queue = (polytile_queue *)queue;
    device->settle = wait_for_members;
    return device;
}

polytile_status pti_outer_detach(polytile_queue *queue, int n_arrays,
                                 polytile_array *const *arrays) {
    pti_queue_keep_error(queue, queue->outer->leave(queue, n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++)
        pti_queue_let_go(queue, arrays[a]);
    return pti_queue_take_error(queue);
}

void pti_outer_end_array(polytile_queue *queue, polytile_array *array) {
    pti_queue_keep_error(queue, queue->outer->leave(queue, 1, &array));
    pti_queue_let_go(queue, array);
}

/** The arrays that the queue holds; NULL when memory runs out. */
static polytile_array **list_held(const polytile_queue *queue, int *n_arrays) {
    polytile_array **list = calloc((size_t)queue->n_held + 1, sizeof *list);
    *n_arrays = 0;
    for (int p = 0; list != NULL && p < queue->n_held; p++) {
        if (queue->held[p].array != NULL)
            list[(*n_arrays)++] = queue->held[p].array;
    }
    return list;
}

/** All of them at once, so that the last launches are planned knowing what nobody needs any more;
 * without memory for a list one by one. */
static void leave_all(polytile_queue *queue) {
    int n_arrays;
    polytile_array **list = list_held(queue, &n_arrays);
    if (n_arrays > 0)
        pti_queue_keep_error(queue, queue->outer->leave(queue, n_arrays, list));
    for (int p = 0; p < queue->n_held; p++) {
        polytile_array *array = queue->held[p].array;
        if (array == NULL)
            continue;
        if (list == NULL)
            pti_queue_keep_error(queue, queue->outer->leave(queue, 1, &array));
        pti_queue_let_go(queue, array);
        if (array->is_internal)
            pti_object_release(&array->object);
    }
    free(list);
}

/** The members end with the team, before anything of the context that they use. */
static void close_team(pti_object *object) {
    polytile_queue *queue = (polytile_queue *)object;
    if (queue->is_closed)
        return;
    queue->is_closed = true;
    leave_all(queue);
    pti_queue_keep_error(queue, queue->outer->wait(queue, NULL));
    pti_queue_report_unread(queue);
    queue->outer->close(queue);
}

static void destroy_team_queue(pti_object *object) {
    close_team(object);
    pti_queue_free((polytile_queue *)object);
}

polytile_queue *pti_queue_create_outer(polytile_context *ctx, const char *text,
                                       const pti_outer_functions *functions, void *team) {
    char *copy = strdup(text);
    polytile_queue *made =
        copy == NULL ? NULL : pti_queue_allocate(ctx, destroy_team_queue, close_team);
    if (made == NULL) {
        free(copy);
        return NULL;
    }
    made->text = copy;
    made->outer = functions;
    made->team = team;
    return made;
}
