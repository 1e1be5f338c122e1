#include "queue/gate.h"

#include "queue/queue.h"

static int64_t *items_before(pti_gates *gates, int64_t gate) {
    return &gates->n_before[gate % PTI_MOST_GATES];
}

bool pti_queue_stands_at_gate(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    pti_gates *gates = &queue->gates;
    const bool stands =
        gates->n_set > gates->n_open && *items_before(gates, gates->n_set) == queue->n_queued;
    pthread_mutex_unlock(&queue->mutex);
    return stands;
}

void pti_queue_set_gate(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->gates.n_set++;
    *items_before(&queue->gates, queue->gates.n_set) = queue->n_queued;
    pthread_mutex_unlock(&queue->mutex);
}

/** Windows are taken in order while gates are closed, so that the number of items that are done
 * says which are. */
void pti_queue_wait_at_gate(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->n_waiting++;
    pthread_cond_signal(&queue->work);
    while (queue->n_queued - queue->n_left < *items_before(&queue->gates, queue->gates.n_open + 1))
        pthread_cond_wait(&queue->done, &queue->mutex);
    queue->n_waiting--;
    pthread_mutex_unlock(&queue->mutex);
}

void pti_queue_open_gate(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->gates.n_open++;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->mutex);
}

polytile_status pti_queue_pass_gate(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->window_gate > queue->gates.n_open && queue->error.status == POLYTILE_OK)
        pthread_cond_wait(&queue->work, &queue->mutex);
    const polytile_status status = queue->window_gate == 0
                                       ? POLYTILE_OK
                                       : pti_error_restore(queue->object.context, &queue->error);
    pthread_mutex_unlock(&queue->mutex);
    return status;
}
