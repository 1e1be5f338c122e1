#include "queue/items.h"

#include "base/clock.h"
#include "launch/execute/team_server.h"
#include "message/program.h"
#include "queue/cache.h"
#include "queue/check_access.h"
#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>

pti_item *pti_item_create(pti_item_kind kind) {
    pti_item *item = calloc(1, sizeof *item);
    if (item != NULL)
        item->kind = kind;
    return item;
}

pti_item *pti_item_create_launch(pti_prepared *prepared, const pti_value *values,
                                 pti_server_part *part) {
    const size_t values_bytes = (size_t)prepared->config.n_values * sizeof *values;
    pti_item *item = malloc(sizeof *item + values_bytes);
    if (item == NULL)
        return NULL;
    *item = (pti_item){.kind = PTI_ITEM_LAUNCH, .prepared = prepared, .part = part};
    memcpy(item->values, values, values_bytes);
    return item;
}

void pti_item_free(pti_item *item) {
    if (item == NULL)
        return;
    pti_boxes_free(&item->boxes);
    pti_team_server_end(item->part, NULL);
    free(item);
}

/** Add to the items of all that an item uses, and note it as used. */
static void count_uses(polytile_queue *queue, const pti_item *item, int by) {
    if (item->kind != PTI_ITEM_LAUNCH) {
        queue->array[item->position].n_items += by;
        return;
    }
    item->prepared->n_items += by;
    for (int a = 0; a < item->prepared->n_arrays; a++) {
        pti_queued_array *queued = &queue->array[item->prepared->position[a]];
        queued->n_items += by;
        queued->is_used = true;
    }
}

/** The bytes that an item touches, as a measure of its work. */
static double item_work_bytes(const pti_item *item) {
    return item->kind == PTI_ITEM_LAUNCH ? item->prepared->touched_bytes : 0;
}

bool pti_queue_is_next_cancelled(const polytile_queue *queue) {
    return queue->first != NULL && pti_cancel_covers(&queue->cancel, queue->first->number);
}

/** Work is counted from when nothing was left to do, and nothing more was to come behind a gate. */
static void add_work(polytile_queue *queue, const pti_item *item) {
    if (queue->n_left == 0 && queue->gates.n_set == queue->gates.n_open)
        queue->work_left = (pti_queue_work){0};
    queue->work_left.queued_bytes += item_work_bytes(item);
}

void pti_queue_append(polytile_queue *queue, pti_item *item) {
    pthread_mutex_lock(&queue->mutex);
    item->next = NULL;
    item->number = ++queue->n_queued;
    item->gate = queue->gates.n_set;
    pti_cancel_note(&queue->cancel, item->number);
    add_work(queue, item);
    queue->queued_s = pti_now_s();
    bool was_empty = queue->first == NULL;
    if (item->kind == PTI_ITEM_LAUNCH)
        pti_cache_use(queue, item->prepared, item->number);
    if (was_empty)
        queue->first = item;
    else
        queue->last->next = item;
    queue->last = item;
    queue->n_left++;
    count_uses(queue, item, 1);
    if (was_empty || queue->n_left == PTI_GATHERED_ITEMS)
        pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->mutex);
}

void pti_queue_finish_items(polytile_queue *queue, pti_item *items) {
    queue->work_left.window_bytes = queue->work_left.batch_bytes = 0;
    while (items != NULL) {
        pti_item *item = items;
        items = item->next;
        count_uses(queue, item, -1);
        queue->work_left.done_bytes += item_work_bytes(item);
        queue->n_left--;
        pti_team_server_end(item->part, &queue->error);
        item->part = NULL;
        pti_item_free(item);
    }
    pthread_cond_broadcast(&queue->done);
    if (queue->bell != NULL && queue->n_queued - queue->n_left >= queue->ring_from)
        pti_bell_ring(queue->bell);
}

static bool is_done_with(const polytile_queue *queue, int n_arrays, polytile_array *const *arrays) {
    bool is_done = queue->want != PTI_WANT_ALL || queue->n_left == 0;
    for (int a = 0; a < n_arrays; a++)
        is_done &= queue->array[arrays[a]->position].n_items == 0;
    return is_done;
}

void pti_queue_wait_for(polytile_queue *queue, pti_want want, int n_arrays,
                        polytile_array *const *arrays) {
    pti_program_begin_wait(queue->server);
    pthread_mutex_lock(&queue->mutex);
    queue->n_waiting++;
    queue->want = want;
    for (int a = 0; a < n_arrays; a++)
        queue->array[arrays[a]->position].is_wanted = true;
    pthread_cond_signal(&queue->work);
    while (!is_done_with(queue, n_arrays, arrays))
        pthread_cond_wait(&queue->done, &queue->mutex);
    for (int a = 0; a < n_arrays; a++)
        queue->array[arrays[a]->position].is_wanted = false;
    queue->n_waiting--;
    queue->want = PTI_WANT_ALL;
    pthread_mutex_unlock(&queue->mutex);
    pti_program_end_wait(queue->server);
}

void pti_queue_wait_all(polytile_queue *queue) {
    pti_queue_wait_for(queue, PTI_WANT_ALL, 0, NULL);
}

bool pti_queue_has_failed(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    bool failed = queue->error.status != POLYTILE_OK;
    pthread_mutex_unlock(&queue->mutex);
    return failed;
}

void pti_queue_keep_error(polytile_queue *queue, polytile_status status) {
    pthread_mutex_lock(&queue->mutex);
    pti_error_keep(&queue->error, queue->object.context, status);
    pthread_mutex_unlock(&queue->mutex);
}

/** Take off what was queued after a failure before forgetting the failure: it is not to run.
 */
polytile_status pti_queue_take_error(polytile_queue *queue) {
    if (!pti_queue_has_failed(queue))
        return pti_queue_repeat_newest(queue);
    pti_queue_forget_newest(queue);
    pti_queue_wait_all(queue);
    pthread_mutex_lock(&queue->mutex);
    const pti_error first = queue->error;
    queue->error = (pti_error){0};
    pthread_mutex_unlock(&queue->mutex);
    return pti_error_restore(queue->object.context, &first);
}
