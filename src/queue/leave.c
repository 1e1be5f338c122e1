#include "queue/leave.h"

#include "queue/outer.h"

void pti_queue_begin_leaving(polytile_queue *queue, const polytile_array *array) {
    pti_item *leave = queue->held[array->position].leave;
    queue->held[array->position].leave = NULL;
    pti_queue_append(queue, leave);
}

void pti_queue_finish_leaving(polytile_queue *queue, int n_arrays, polytile_array *const *arrays) {
    for (int a = 0; a < n_arrays; a++)
        pti_queue_settle(queue, arrays[a]->position);
    pti_queue_claim(queue);
    for (int a = 0; a < n_arrays; a++)
        pti_queue_let_go(queue, arrays[a]);
    pti_queue_unclaim(queue);
}

static int64_t n_items_of(polytile_queue *queue, int position) {
    pthread_mutex_lock(&queue->mutex);
    int64_t n_items = queue->held[position].n_items;
    pthread_mutex_unlock(&queue->mutex);
    return n_items;
}

/** To end an array of the queue's own behind the launches that use it is usual; to end one whose
 * memory is the program's, which comes back first, hardly meant. */
bool pti_queue_end_array(polytile_array *array) {
    polytile_queue *queue = array->queue;
    if (pti_queue_enter(queue) != POLYTILE_OK) {
        pti_log(queue->object.context, PTI_LOG_ERROR, "array %s: not destroyed: %s", array->name,
                polytile_last_error(queue->object.context));
        return false;
    }
    if (queue->outer != NULL) {
        pti_outer_end_array(queue, array);
        return true;
    }
    int64_t n_items = n_items_of(queue, array->position);
    if (n_items > 0 && !array->is_internal)
        pti_log(queue->object.context, PTI_LOG_WARN,
                "array %s: destroyed while launches that use it were queued on %s; they are waited "
                "for",
                array->name, pti_queue_text(queue));
    pti_queue_begin_leaving(queue, array);
    pti_queue_finish_leaving(queue, 1, &array);
    return true;
}

static void end_at(polytile_queue *queue, int position) {
    polytile_array *array = queue->held[position].array;
    if (array == NULL)
        return;
    pti_queue_finish_leaving(queue, 1, &array);
    if (array->is_internal)
        pti_object_release(&array->object);
}

void pti_queue_end_arrays(polytile_queue *queue) {
    for (int p = 0; p < queue->n_held; p++) {
        if (queue->held[p].array != NULL)
            pti_queue_begin_leaving(queue, queue->held[p].array);
    }
    pti_queue_settle(queue, -1);
    for (int p = 0; p < queue->n_held; p++)
        end_at(queue, p);
}
