#include "queue/worker/worker.h"
#include "base/clock.h"
#include "base/signals.h"
#include "launch/peers/peers.h"
#include "message/program.h"

#include <string.h>
#include <time.h>

/* The queue's thread: it sleeps until something may run, runs it, and notifies who waits. */

/** Launches count as still coming until so long after the last one. */
static const double gather_s = 0.5e-3;

/** Return whether what a call waits for is still queued. */
static bool is_wanted(const polytile_queue *queue) {
    return queue->n_waiting > 0 && (queue->want == PTI_WANT_ALL || pti_window_has_wanted(queue));
}

/** Return whether the thread may go on. After a failure nothing holds items back: they are not
 * run. */
static bool may_begin(const polytile_queue *queue) {
    bool is_awake = !queue->is_paused || queue->is_stopping || is_wanted(queue) ||
                    pti_queue_is_next_cancelled(queue);
    return queue->first != NULL && !queue->is_claimed &&
           (is_awake || queue->error.status != POLYTILE_OK);
}

/** Return whether an item is a launch that cannot keep all its data on the device, or runs
 * nothing. */
static bool is_worth_gathering(const pti_item *item) {
    while (item != NULL && pti_item_only_invalidates(item))
        item = item->next;
    return item == NULL || (item->kind == PTI_ITEM_LAUNCH && !item->prepared->all_fit);
}

/** Return whether launches that cannot keep all their data on the device are still being queued:
 * launches that are planned together move less. Invalidations wait for them, too. */
static bool is_gathering(const polytile_queue *queue) {
    return queue->first != NULL && queue->residency != NULL && queue->bell == NULL &&
           is_worth_gathering(queue->first) && queue->n_waiting == 0 && !queue->is_stopping &&
           queue->error.status == POLYTILE_OK && queue->n_left < PTI_GATHERED_ITEMS &&
           pti_now_s() - queue->queued_s < gather_s;
}

/** Sleep until there is something new, or for a while. The mutex is locked. */
static void sleep_while(polytile_queue *queue) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(gather_s * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&queue->work, &queue->mutex, &until);
}

/** Wait for work; false when there will be none any more. The mutex is locked. */
static bool await_work(polytile_queue *queue) {
    for (;;) {
        bool may = may_begin(queue);
        if (may && !is_gathering(queue))
            return true;
        if (queue->is_stopping && queue->first == NULL)
            return false;
        if (may)
            sleep_while(queue);
        else
            pthread_cond_wait(&queue->work, &queue->mutex);
    }
}

static pti_item *take_all(polytile_queue *queue) {
    pti_item *items = queue->first;
    queue->first = queue->last = NULL;
    return items;
}

/** Notify devices that share uploads with this one that items are done. */
static void notify_peers(const polytile_queue *queue, const pti_item *items) {
    int64_t number = 0;
    for (; items != NULL; items = items->next)
        number = items->number > number ? items->number : number;
    pti_peers_note_passed(queue->device, number);
}

/** Run items, or pass them after a failure. */
static polytile_status run_or_skip(polytile_queue *queue, const pti_item *items, bool has_failed) {
    if (!has_failed)
        return pti_window_run(queue, items);
    pti_window_skip(queue, items);
    return POLYTILE_OK;
}

/** Run a window, or pass it, without the mutex until the peers are notified, too: the program's
 * thread must not wait for what other devices do. */
static void do_window(polytile_queue *queue, const pti_item *window, bool has_failed) {
    const polytile_status before = queue->error.status;
    queue->is_running = true;
    queue->window_number = window->number;
    queue->window_gate = window->gate;
    if (queue->work_left.begun_s == 0)
        queue->work_left.begun_s = pti_now_s();
    pthread_mutex_unlock(&queue->mutex);
    polytile_status status = run_or_skip(queue, window, has_failed);
    pti_queue_call_back(queue, window, has_failed ? before : status);
    notify_peers(queue, window);
    pthread_mutex_lock(&queue->mutex);
    queue->is_running = false;
    pti_error_keep(&queue->error, queue->object.context, status);
}

static void *run_worker(void *argument) {
    polytile_queue *queue = argument;
    pti_error error = {0};
    pti_redirect_errors(&error);
    pthread_mutex_lock(&queue->mutex);
    while (await_work(queue)) {
        bool has_failed = queue->error.status != POLYTILE_OK;
        pti_item *items = has_failed ? take_all(queue) : pti_window_take(queue);
        do_window(queue, items, has_failed);
        pti_queue_finish_items(queue, items);
    }
    pthread_mutex_unlock(&queue->mutex);
    pti_redirect_errors(NULL);
    return NULL;
}

polytile_status pti_worker_start(polytile_queue *queue) {
    sigset_t before;
    pti_signals_block(&before);
    int error = pthread_create(&queue->thread, NULL, run_worker, queue);
    pti_signals_restore(&before);
    queue->has_thread = error == 0;
    if (error != 0)
        return pti_fail(queue->object.context, POLYTILE_DEVICE,
                        "queue on %s: its thread does not start: %s; end some threads of the "
                        "program, or raise the limit (ulimit -u)",
                        pti_queue_text(queue), strerror(error));
    return POLYTILE_OK;
}

void pti_worker_stop(polytile_queue *queue) {
    pti_program_begin_wait(queue->server);
    pthread_mutex_lock(&queue->mutex);
    queue->is_stopping = true;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->mutex);
    pthread_join(queue->thread, NULL);
    queue->has_thread = false;
    pti_program_end_wait(queue->server);
}
