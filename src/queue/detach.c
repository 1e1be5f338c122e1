#include "queue/detach.h"

void pti_queue_begin_leaving(polytile_queue *queue, const polytile_array *array) {
    pti_item *leave = queue->array[array->position].end_item;
    queue->array[array->position].end_item = NULL;
    pti_queue_append(queue, leave);
}

void pti_queue_finish_leaving(polytile_queue *queue, int n_arrays, polytile_array *const *arrays) {
    pti_queue_wait_for(queue, PTI_WANT_RELATED, n_arrays, arrays);
    pti_queue_claim(queue);
    for (int a = 0; a < n_arrays; a++)
        pti_queue_let_go(queue, arrays[a]);
    pti_queue_unclaim(queue);
    pti_queue_release_ended(queue);
}

static int64_t n_items_of(polytile_queue *queue, int position) {
    pthread_mutex_lock(&queue->mutex);
    int64_t n_items = queue->array[position].n_items;
    pthread_mutex_unlock(&queue->mutex);
    return n_items;
}

static void release_ended_array(polytile_queue *queue, int position) {
    polytile_array *array = queue->array[position].array;
    pti_queue_claim(queue);
    pti_queue_let_go(queue, array);
    pti_queue_unclaim(queue);
    pti_object_release(&array->object);
    queue->n_ended--;
}

void pti_queue_release_ended(polytile_queue *queue) {
    for (int p = 0; p < queue->n_arrays && queue->n_ended > 0; p++) {
        if (queue->array[p].is_ended && n_items_of(queue, p) == 0)
            release_ended_array(queue, p);
    }
}

/** Launches that use it are not waited for: they are planned knowing that its elements are dead
 * after them. */
static void end_internal(polytile_queue *queue, const polytile_array *array) {
    queue->array[array->position].is_ended = true;
    queue->n_ended++;
    pti_queue_begin_leaving(queue, array);
}

/** Warn if launches use it: its memory is the program's, which hardly means to lose it. */
static void end_attached(polytile_queue *queue, polytile_array *array) {
    if (n_items_of(queue, array->position) > 0)
        pti_log(queue->object.context, PTI_LOG_WARN,
                "array %s: destroyed while launches that use it were queued on %s; they are waited "
                "for",
                array->name, pti_queue_text(queue));
    pti_queue_begin_leaving(queue, array);
    pti_queue_finish_leaving(queue, 1, &array);
}

/** Wait for an internal array, which may have ended already. */
static void end_at_once(polytile_queue *queue, polytile_array *array) {
    if (!queue->array[array->position].is_ended)
        end_internal(queue, array);
    queue->array[array->position].is_ended = false;
    queue->n_ended--;
    pti_queue_finish_leaving(queue, 1, &array);
}

bool pti_queue_end_array(polytile_array *array, bool at_once) {
    polytile_queue *queue = array->queue;
    if (!array->is_internal)
        end_attached(queue, array);
    else if (at_once)
        end_at_once(queue, array);
    else
        end_internal(queue, array);
    return array->queue == NULL;
}

static void end_at(polytile_queue *queue, int position) {
    polytile_array *array = queue->array[position].array;
    if (array == NULL)
        return;
    pti_queue_finish_leaving(queue, 1, &array);
    if (array->is_internal)
        pti_object_release(&array->object);
}

void pti_queue_end_arrays(polytile_queue *queue) {
    for (int p = 0; p < queue->n_arrays; p++) {
        if (pti_queue_has_array(queue, p))
            pti_queue_begin_leaving(queue, queue->array[p].array);
    }
    pti_queue_wait_all(queue);
    pti_queue_release_ended(queue);
    for (int p = 0; p < queue->n_arrays; p++)
        end_at(queue, p);
}
