#include "queue/scratch.h"

#include "queue/detach.h"

static bool is_position_listed(const int *position, int n_positions, int p) {
    bool is = false;
    for (int o = 0; o < n_positions; o++)
        is |= position[o] == p;
    return is;
}

static bool is_scratch_alike(const pti_queued_array *queued, const pti_operand *operand) {
    return queued->array != NULL && queued->is_scratch && !queued->is_ended &&
           queued->array->type == operand->type &&
           pti_box_compare(&queued->array->domain, &operand->domain) == 0;
}

/** The position of an array like an operand that is none of those before it; -1: there is none. */
static int find_alike(const polytile_queue *queue, const pti_instance *instance, int operand,
                      const int *position) {
    int p = 0;
    while (p < queue->n_arrays &&
           (!is_scratch_alike(&queue->array[p], &instance->operand[operand]) ||
            is_position_listed(position, operand, p)))
        p++;
    return p < queue->n_arrays ? p : -1;
}

/** Destroy scratch. What is resident of it is dropped after the launches that use it; members have
 * nothing of it. */
static void end_scratch(polytile_queue *queue, polytile_array *array) {
    if (queue->group_functions == NULL) {
        polytile_array_destroy(array);
        return;
    }
    pti_queue_let_go(queue, array);
    pti_object_release(&array->object);
}

/** Return whether a prepared launch that uses an array is queued. The mutex is locked. */
static bool is_queued(const polytile_queue *queue, int position) {
    bool is = false;
    for (int bucket = 0; bucket < PTI_PREPARED_BUCKETS; bucket++)
        for (const pti_prepared *next = queue->prepared[bucket]; next != NULL; next = next->next)
            is |= next->n_items > 0 && pti_prepared_uses(next, position);
    return is;
}

static bool may_end(polytile_queue *queue, int position) {
    pthread_mutex_lock(&queue->mutex);
    bool may = queue->array[position].is_scratch && !queue->array[position].is_ended &&
               !is_queued(queue, position);
    pthread_mutex_unlock(&queue->mutex);
    return may;
}

static int count_scratch(const polytile_queue *queue) {
    int n = 0;
    for (int p = 0; p < queue->n_arrays; p++)
        n += queue->array[p].is_scratch && !queue->array[p].is_ended;
    return n;
}

/** Programs that change extents with each launch would have an array for each. */
static void end_unused(polytile_queue *queue, const int *position, int n_positions) {
    if (count_scratch(queue) < PTI_QUEUE_SCRATCH)
        return;
    for (int p = 0; p < queue->n_arrays; p++)
        if (!is_position_listed(position, n_positions, p) && may_end(queue, p))
            end_scratch(queue, queue->array[p].array);
    pti_queue_release_ended(queue);
}

static polytile_status create_scratch(polytile_queue *queue, const pti_operand *operand,
                                      int *position) {
    polytile_array *array = NULL;
    polytile_status status;
    PTI_TRY(pti_array_create(queue->object.context, operand->name, operand->type, &operand->domain,
                             &array));
    array->is_internal = true;
    pti_queue_claim(queue);
    status = pti_queue_hold(queue, array, false);
    if (status == POLYTILE_OK)
        queue->array[array->position].is_scratch = true;
    pti_queue_unclaim(queue);
    PTI_TRY(status);
    *position = array->position;
done:
    if (status != POLYTILE_OK)
        polytile_array_destroy(array);
    return status;
}

polytile_status pti_queue_find_scratch(polytile_queue *queue, const pti_instance *instance,
                                       int *position) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < instance->n_operands; o++) {
        const pti_operand *operand = &instance->operand[o];
        if (!operand->is_scratch)
            continue;
        position[o] = find_alike(queue, instance, o, position);
        if (position[o] >= 0)
            continue;
        end_unused(queue, position, o);
        PTI_TRY(create_scratch(queue, operand, &position[o]));
    }
done:
    return status;
}

void pti_queue_end_scratch(polytile_queue *queue) {
    for (int p = 0; p < queue->n_arrays; p++)
        if (queue->array[p].is_scratch)
            end_scratch(queue, queue->array[p].array);
}
