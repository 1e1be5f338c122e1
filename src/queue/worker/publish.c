#include "queue/worker/worker.h"

#include "base/list.h"
#include "launch/peers/newer.h"
#include "queue/queued_array.h"

#include <stdlib.h>

/** A list while it grows. */
typedef struct listing {
    const polytile_array *array;
    int n;
    bool failed;
    pti_newer *newer;
} listing;

static void add_image(void *of, const pti_memory_layout *layout, int64_t offset_bytes,
                      const pti_boxes *dirty) {
    listing *list = of;
    if (list->failed || !PTI_RESIZE(list->newer, list->n + 1)) {
        list->failed = true;
        return;
    }
    pti_newer *added = &list->newer[list->n++];
    *added = pti_newer_of(list->array);
    added->offset_bytes = offset_bytes;
    added->layout = *layout;
    pti_boxes_copy(&added->boxes, dirty);
    list->failed = added->boxes.failed;
}

/** Internal arrays are in nobody else's reach. */
static void list_newer_of_array(const polytile_queue *queue, int position, listing *list) {
    list->array = queue->array[position].array;
    if (list->array != NULL && !list->array->is_internal)
        pti_residency_visit_dirty(queue->residency, position, add_image, list);
}

void pti_queue_publish(const polytile_queue *queue) {
    listing list = {0};
    if (queue->residency == NULL || queue->device->peer == NULL)
        return;
    const int n_arrays = pti_residency_arrays(queue->residency)->n_operands;
    for (int p = 0; p < queue->n_arrays && p < n_arrays; p++)
        list_newer_of_array(queue, p, &list);
    if (list.failed)
        pti_newer_free(list.n, list.newer);
    pti_peers_publish(queue->device, list.n + list.failed, list.failed ? NULL : list.newer);
}
