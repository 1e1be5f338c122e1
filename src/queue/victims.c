#include "access/footprint/indirection.h"
#include "queue/cache.h"
#include "queue/queue.h"

#include <string.h>

/** Return whether a launch looks up the array at a position; -1: any. */
static bool looks_position_up(const pti_prepared *prepared, int position) {
    const pti_inspection *inspection = prepared->instance->inspection;
    bool does = false;
    for (int a = 0; inspection != NULL && a < prepared->n_arrays; a++)
        does = does || (inspection->array[a] != NULL &&
                        (position < 0 || prepared->position[a] == position));
    return does;
}

/** Scratch has positions that others may get meanwhile. */
static bool has_scratch(const pti_prepared *prepared) {
    bool has = false;
    for (int a = 0; a < prepared->n_arrays; a++)
        has |= prepared->array_serial[a] == 0;
    return has;
}

void pti_victims_add(polytile_queue *queue, pti_prepared *prepared, int position) {
    enum { LAST = PTI_MAX_VICTIMS - 1 };
    if (position < 0 || queue->group_functions != NULL || has_scratch(prepared) ||
        looks_position_up(prepared, position)) {
        pti_prepared_free(prepared);
        return;
    }
    pti_prepared_free(queue->victim[LAST]);
    memmove(&queue->victim[1], &queue->victim[0], LAST * sizeof queue->victim[0]);
    queue->victim[0] = prepared;
}

/** What was read of the index array that an operand is; NULL: nothing yet. */
static const pti_index_array *find_indices(const pti_request *request, int operand) {
    if (request->whole == NULL)
        return pti_request_given(request, operand)->indices;
    const pti_inspection *inspection = request->whole->inspection;
    return inspection == NULL ? NULL : inspection->array[operand];
}

/** Return whether arrays are where they were, and index arrays are those that were read. */
static bool are_back(const pti_prepared *prepared, const pti_request *request) {
    const pti_inspection *inspection = prepared->instance->inspection;
    bool are = true;
    for (int a = 0; are && a < prepared->n_arrays; a++) {
        are = prepared->position[a] == request->arrays[a]->position;
        if (inspection != NULL && inspection->array[a] != NULL)
            are = are && inspection->array[a] == find_indices(request, a);
    }
    return are;
}

/** Return whether what a launch was cut for is no more than there is. */
static bool has_its_memory(polytile_queue *queue, const pti_prepared *prepared) {
    pthread_mutex_lock(&queue->mutex);
    const bool has = prepared->arena_bytes <= queue->usable_bytes;
    pthread_mutex_unlock(&queue->mutex);
    return has;
}

/** Which victim can be used for a request again; PTI_MAX_VICTIMS: none. */
static int find_victim(polytile_queue *queue, const pti_request *request, uint64_t hash) {
    int k = 0;
    while (k < PTI_MAX_VICTIMS &&
           (queue->victim[k] == NULL || queue->victim[k]->hash != hash ||
            !pti_prepared_is_for(queue->victim[k], request) ||
            !are_back(queue->victim[k], request) || !has_its_memory(queue, queue->victim[k])))
        k++;
    return k;
}

pti_prepared *pti_victims_take(polytile_queue *queue, const pti_request *request, uint64_t hash) {
    const int k = find_victim(queue, request, hash);
    if (k == PTI_MAX_VICTIMS)
        return NULL;
    pti_prepared *prepared = queue->victim[k];
    queue->victim[k] = NULL;
    return prepared;
}

void pti_victims_forget(polytile_queue *queue, int position) {
    for (int k = 0; k < PTI_MAX_VICTIMS; k++) {
        if (queue->victim[k] != NULL &&
            (position < 0 || looks_position_up(queue->victim[k], position))) {
            pti_prepared_free(queue->victim[k]);
            queue->victim[k] = NULL;
        }
    }
}
