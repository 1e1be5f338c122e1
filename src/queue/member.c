#include "queue/member.h"

#include "queue/queued_array.h"

/** An item about elements of an array. */
static pti_item *make_item(pti_item_kind kind, const polytile_array *array,
                           const pti_boxes *boxes) {
    pti_item *item = pti_item_create(kind);
    if (item == NULL)
        return NULL;
    item->position = array->position;
    pti_boxes_copy(&item->boxes, boxes);
    if (!item->boxes.failed)
        return item;
    pti_item_free(item);
    return NULL;
}

static polytile_status append_boxes(polytile_queue *queue, pti_item_kind kind,
                                    const polytile_array *array, const pti_boxes *boxes) {
    if (boxes->n_boxes == 0)
        return POLYTILE_OK;
    pti_item *item = make_item(kind, array, boxes);
    if (item == NULL)
        return pti_fail_memory(queue->object.context, array->name,
                               (double)boxes->n_boxes * (double)sizeof *boxes->box);
    pti_queue_append(queue, item);
    return POLYTILE_OK;
}

polytile_status pti_queue_fetch(polytile_queue *queue, polytile_array *array,
                                const pti_boxes *boxes) {
    return append_boxes(queue, PTI_ITEM_FETCH, array, boxes);
}

polytile_status pti_queue_invalidate(polytile_queue *queue, polytile_array *array,
                                     const pti_boxes *boxes) {
    return append_boxes(queue, PTI_ITEM_INVALIDATE, array, boxes);
}

polytile_status pti_queue_pull(polytile_queue *queue, polytile_array *array,
                               const pti_boxes *boxes) {
    const polytile_status status = append_boxes(queue, PTI_ITEM_INVALIDATE, array, boxes);
    return status == POLYTILE_OK ? append_boxes(queue, PTI_ITEM_BRING, array, boxes) : status;
}

bool pti_queue_keeps_all(polytile_queue *queue) {
    bool keeps = true;
    pthread_mutex_lock(&queue->mutex);
    for (int p = 0; p < queue->n_arrays && keeps; p++)
        keeps = !queue->array[p].is_used || queue->array[p].is_whole;
    pthread_mutex_unlock(&queue->mutex);
    return keeps;
}

bool pti_queue_has_whole(polytile_queue *queue, const polytile_array *array) {
    pthread_mutex_lock(&queue->mutex);
    const bool is_whole = queue->array[array->position].is_whole;
    pthread_mutex_unlock(&queue->mutex);
    return is_whole;
}

static bool has_room(polytile_queue *queue) {
    pti_queue_claim(queue);
    const bool is_reserved = queue->arena_bytes > 0 || queue->n_arrays == 0;
    const bool has =
        queue->residency == NULL || (is_reserved && pti_residency_has_room(queue->residency));
    pti_queue_unclaim(queue);
    return has;
}

/** Queue that all arrays leave the device, to come again. */
static polytile_status queue_flushes(polytile_queue *queue) {
    polytile_status status = POLYTILE_OK;
    for (int p = 0; p < queue->n_arrays; p++) {
        if (!pti_queue_has_array(queue, p))
            continue;
        pti_item *item = pti_item_create(PTI_ITEM_FLUSH);
        if (item == NULL)
            PTI_TRY(pti_fail_memory(queue->object.context, queue->array[p].array->name,
                                    (double)sizeof *item));
        item->position = p;
        pti_queue_append(queue, item);
    }
done:
    return status;
}

static polytile_status wait_and_report(polytile_queue *queue) {
    polytile_status status;
    PTI_TRY(pti_queue_enter(queue));
    pti_queue_wait_all(queue);
    status = pti_queue_take_error(queue);
done:
    return status;
}

polytile_status pti_queue_make_room(polytile_queue *queue, bool *found) {
    polytile_status status = wait_and_report(queue);
    *found = status == POLYTILE_OK && has_room(queue);
    if (status != POLYTILE_OK || *found)
        return status;
    PTI_TRY(queue_flushes(queue));
    PTI_TRY(wait_and_report(queue));
    *found = has_room(queue);
done:
    return status;
}

void pti_queue_set_keeps(polytile_queue *queue, bool keeps) {
    pthread_mutex_lock(&queue->mutex);
    queue->keeps = keeps;
    pthread_mutex_unlock(&queue->mutex);
}

polytile_status pti_queue_discard(polytile_queue *queue, polytile_array *array) {
    pti_boxes whole = {0};
    pti_boxes_append(&whole, &array->domain);
    polytile_status status =
        whole.failed ? pti_fail_memory(queue->object.context, array->name, sizeof *whole.box)
                     : append_boxes(queue, PTI_ITEM_DISCARD, array, &whole);
    pti_boxes_free(&whole);
    return status;
}

polytile_status pti_queue_wait_for_elements(polytile_queue *queue, polytile_array *array) {
    polytile_status status;
    PTI_TRY(pti_queue_enter(queue));
    pti_queue_wait_for(queue, PTI_WANT_NEEDED, 1, &array);
    status = pti_queue_take_error(queue);
done:
    return status;
}

void *pti_queue_get_spill(polytile_queue *queue, polytile_array *array) {
    pti_queue_claim(queue);
    pti_queue_spill(queue, array);
    pti_queue_unclaim(queue);
    return array->data;
}

void pti_queue_share_cuts(polytile_queue *queue, struct pti_kept_cuts *cuts) {
    queue->kept_cuts = cuts;
}

int64_t pti_queue_get_usable_bytes(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    int64_t n_bytes = queue->usable_bytes;
    pthread_mutex_unlock(&queue->mutex);
    return n_bytes;
}

void pti_queue_set_bell(polytile_queue *queue, pti_bell *bell) {
    pthread_mutex_lock(&queue->mutex);
    queue->bell = bell;
    pthread_mutex_unlock(&queue->mutex);
}

void pti_queue_ring_from(polytile_queue *queue, int64_t n_done) {
    pthread_mutex_lock(&queue->mutex);
    queue->ring_from = n_done;
    pthread_mutex_unlock(&queue->mutex);
}
