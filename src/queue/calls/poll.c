#include "base/checked.h"
#include "base/clock.h"
#include "queue/over_group.h"
#include "queue/queue.h"

#include <math.h>

/* The public calls that do not wait. */

/** Wake the queue's thread if what it is to run next was cancelled. */
static void wake_if_cancelled(polytile_queue *queue) {
    if (pti_queue_is_next_cancelled(queue))
        pthread_cond_signal(&queue->work);
}

static bool is_done(polytile_queue *queue, const polytile_array *array) {
    pthread_mutex_lock(&queue->mutex);
    const bool is = array == NULL ? queue->n_left == 0 : queue->array[array->position].n_items == 0;
    if (!is)
        wake_if_cancelled(queue);
    pthread_mutex_unlock(&queue->mutex);
    return is;
}

/** Nobody but the program's thread runs what a group has. */
static bool run_group(polytile_queue *queue) {
    if (pti_queue_is_own_thread(queue))
        return false;
    pti_queue_keep_error(queue, queue->group_functions->wait(queue, NULL));
    return true;
}

bool polytile_queue_test(polytile_queue *queue, const polytile_array *array) {
    if (queue == NULL || (array != NULL && array->queue != queue))
        return true;
    return queue->group_functions != NULL ? run_group(queue) : is_done(queue, array);
}

/** The share of the operations that run now which are done. */
static double share_of_batch(const polytile_queue *queue) {
    const int64_t n_ops = __atomic_load_n(&queue->device->n_ops, __ATOMIC_RELAXED);
    const int64_t n_done = __atomic_load_n(&queue->device->n_ops_done, __ATOMIC_RELAXED);
    return n_ops == 0 ? 0 : (double)pti_min(n_done, n_ops) / (double)n_ops;
}

static polytile_progress progress_of(double fraction, double begun_s) {
    const double taken_s = pti_now_s() - begun_s;
    if (begun_s == 0 || fraction <= 0)
        return (polytile_progress){.fraction = 0, .left_s = INFINITY};
    return (polytile_progress){.fraction = fraction, .left_s = taken_s * (1 - fraction) / fraction};
}

/** The mutex is locked. */
static polytile_progress find_progress(const polytile_queue *queue) {
    const pti_queue_work *work = &queue->work_left;
    const double done_bytes =
        work->done_bytes + work->window_bytes + work->batch_bytes * share_of_batch(queue);
    return progress_of(fmin(done_bytes / fmax(work->queued_bytes, 1), 1), work->begun_s);
}

polytile_progress polytile_queue_get_progress(polytile_queue *queue) {
    polytile_progress progress = {.fraction = 1, .left_s = 0};
    if (queue == NULL)
        return progress;
    if (queue->group_functions != NULL)
        return queue->group_functions->get_progress(queue);
    pthread_mutex_lock(&queue->mutex);
    if (queue->n_left > 0)
        progress = find_progress(queue);
    pthread_mutex_unlock(&queue->mutex);
    return progress;
}

void polytile_queue_cancel(polytile_queue *queue) {
    if (queue == NULL)
        return;
    pti_cancel_ask(&queue->cancel);
    if (queue->group_functions != NULL)
        queue->group_functions->cancel(queue);
}
