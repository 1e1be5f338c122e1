#include "queue/queued_array.h"

#include "base/list.h"
#include "message/program.h"
#include "queue/cache.h"
#include "queue/queue.h"

#include <stdlib.h>
#include <sys/mman.h>

/** Processors compare addresses within a page to find a load of what was just stored. */
enum { PAGE_BYTES = 4096 };

void pti_queue_claim(polytile_queue *queue) {
    pti_program_begin_wait(queue->server);
    pthread_mutex_lock(&queue->mutex);
    queue->is_claimed = true;
    while (queue->is_running)
        pthread_cond_wait(&queue->done, &queue->mutex);
    pthread_mutex_unlock(&queue->mutex);
    pti_program_end_wait(queue->server);
}

void pti_queue_unclaim(polytile_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->is_claimed = false;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->mutex);
}

/** The position that the device's side gives, or without one the lowest that is free; -1 when
 * memory runs out. */
static int take_position(polytile_queue *queue, const polytile_array *array) {
    if (queue->residency != NULL)
        return pti_residency_add(queue->residency,
                                 &(pti_resident_array){.name = array->name,
                                                       .type = array->type,
                                                       .element_bytes = array->element_bytes,
                                                       .domain = array->domain,
                                                       .exclusive = array->exclusive,
                                                       .is_internal = array->is_internal,
                                                       .is_idle = true});
    int position = 0;
    while (position < queue->n_arrays && queue->array[position].array != NULL)
        position++;
    return position;
}

static void give_position(polytile_queue *queue, int position) {
    if (queue->residency != NULL && position >= 0)
        pti_residency_remove(queue->residency, position);
}

/** Let there be positions up to this one. False when memory runs out. */
static bool grow_positions(polytile_queue *queue, int position) {
    if (position < queue->n_arrays)
        return true;
    int n_arrays = 2 * queue->n_arrays > position ? 2 * queue->n_arrays : position + 1;
    if (!PTI_RESIZE(queue->array, n_arrays))
        return false;
    while (queue->n_arrays < n_arrays)
        queue->array[queue->n_arrays++] = (pti_queued_array){0};
    return true;
}

/** Return whether bytes between elements may be of somebody else's. */
static bool has_gaps(const polytile_array *array) {
    return pti_array_span_bytes(array) != array->n_bytes;
}

/** Guard an array's memory, unless it has gaps. That of several queues is never out of reach: each
 * moves its own part. */
static polytile_status guard_memory(polytile_queue *queue, pti_queued_array *queued,
                                    const polytile_array *array, bool is_shared) {
    polytile_context *ctx = queue->object.context;
    queued->is_guarded = pti_get_settings(ctx)->check_attach && !array->is_internal && !is_shared &&
                         !has_gaps(array);
    if (!queued->is_guarded)
        return POLYTILE_OK;
    queued->guard =
        pti_guard_of(array->name, array->data, (size_t)array->n_bytes, array->read_only);
    return pti_guard_close(ctx, &queued->guard);
}

/** End an array, if the caller may: a launcher that the queue runs would wait for itself. */
static bool end_array(polytile_array *array, bool at_once) {
    polytile_queue *queue = array->queue;
    if (pti_queue_enter(queue) == POLYTILE_OK)
        return queue->ends->end_array(array, at_once);
    pti_log(queue->object.context, PTI_LOG_ERROR, "array %s: not destroyed: %s", array->name,
            polytile_last_error(queue->object.context));
    return false;
}

polytile_status pti_queue_hold(polytile_queue *queue, polytile_array *array, bool is_shared) {
    polytile_context *ctx = queue->object.context;
    polytile_status status = POLYTILE_OK;
    pti_queued_array queued = {.array = array};
    queued.end_item = pti_item_create(array->is_internal ? PTI_ITEM_DROP : PTI_ITEM_FLUSH);
    int position = queued.end_item == NULL ? -1 : take_position(queue, array);
    if (position < 0 || !grow_positions(queue, position))
        PTI_TRY(pti_fail_memory(ctx, array->name, sizeof queued));
    PTI_TRY(guard_memory(queue, &queued, array, is_shared));
    queued.end_item->position = position;
    queue->array[position] = queued;
    array->queue = queue;
    array->position = position;
    array->leave_queue = end_array;
done:
    if (status != POLYTILE_OK) {
        give_position(queue, position);
        pti_item_free(queued.end_item);
    }
    return status;
}

bool pti_queue_has_array(const polytile_queue *queue, int position) {
    return queue->array[position].array != NULL && !queue->array[position].is_ended;
}

void pti_queue_let_go(polytile_queue *queue, polytile_array *array) {
    pti_queued_array *queued = &queue->array[array->position];
    if (pti_guard_open(queue->object.context, &queued->guard) != POLYTILE_OK)
        pti_log(queue->object.context, PTI_LOG_ERROR, "%s",
                polytile_last_error(queue->object.context));
    pti_queue_forget_prepared(queue, array->position);
    pti_array_forget_indices(array);
    give_position(queue, array->position);
    pti_item_free(queued->end_item);
    pti_boxes_free(&queued->pulled);
    *queued = (pti_queued_array){0};
    array->queue = NULL;
    array->leave_queue = NULL;
}

/** Where in a page an array begins: never where large arrays of the program do, nor its neighbours.
 * A load waits for a store to another array at the same place of a page, which costs a stencil that
 * goes to and fro between two arrays 10 % of its time. */
static size_t place_in_page(int position) {
    static const size_t eighth[] = {4, 2, 6, 1, 5, 3, 7};
    return eighth[(size_t)position % (sizeof eighth / sizeof *eighth)] * (PAGE_BYTES / 8);
}

polytile_status pti_queue_spill(polytile_queue *queue, polytile_array *array) {
    if (array->data != NULL)
        return POLYTILE_OK;
    size_t mapping_bytes = (size_t)array->n_bytes + PAGE_BYTES;
    char *mapping =
        mmap(NULL, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return pti_fail_memory(queue->object.context, array->name, (double)array->n_bytes);
    madvise(mapping, mapping_bytes, MADV_HUGEPAGE);
    array->data = mapping + place_in_page(array->position);
    array->mapping = mapping;
    array->mapping_bytes = (int64_t)mapping_bytes;
    return POLYTILE_OK;
}

void pti_close_guard(polytile_queue *queue, int position) {
    polytile_context *ctx = queue->object.context;
    if (queue->array[position].is_guarded &&
        pti_guard_close(ctx, &queue->array[position].guard) != POLYTILE_OK)
        pti_log(ctx, PTI_LOG_WARN, "%s", polytile_last_error(ctx));
}
