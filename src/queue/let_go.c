#include "queue/cache.h"

#include "access/footprint/indirection.h"

#include <string.h>

/** Whether a launch looks up the array at a position; -1: any. */
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

void pti_let_go(polytile_queue *queue, pti_prepared *prepared, int position) {
    enum { LAST = PTI_LET_GO - 1 };
    if (position < 0 || queue->group_functions != NULL || has_scratch(prepared) ||
        looks_position_up(prepared, position)) {
        pti_prepared_free(prepared);
        return;
    }
    pti_prepared_free(queue->let_go[LAST]);
    memmove(&queue->let_go[1], &queue->let_go[0], LAST * sizeof queue->let_go[0]);
    queue->let_go[0] = prepared;
}

/** What was read of the index array that an operand is; NULL: nothing yet. */
static const pti_index_array *find_indices(const pti_request *request, int operand) {
    if (request->whole == NULL)
        return pti_request_given(request, operand)->indices;
    const pti_inspection *inspection = request->whole->inspection;
    return inspection == NULL ? NULL : inspection->array[operand];
}

/** Whether arrays are where they were, and index arrays are those that were read. */
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

/** Whether what a launch was cut for is no more than there is. */
static bool has_its_memory(polytile_queue *queue, const pti_prepared *prepared) {
    pthread_mutex_lock(&queue->mutex);
    const bool has = prepared->arena_bytes <= queue->usable_bytes;
    pthread_mutex_unlock(&queue->mutex);
    return has;
}

/** Which launch that was let go of is one for a request again; PTI_LET_GO: none. */
static int find_let_go(polytile_queue *queue, const pti_request *request, uint64_t hash) {
    int k = 0;
    while (k < PTI_LET_GO &&
           (queue->let_go[k] == NULL || queue->let_go[k]->hash != hash ||
            !pti_prepared_is_for(queue->let_go[k], request) ||
            !are_back(queue->let_go[k], request) || !has_its_memory(queue, queue->let_go[k])))
        k++;
    return k;
}

pti_prepared *pti_take_back(polytile_queue *queue, const pti_request *request, uint64_t hash) {
    const int k = find_let_go(queue, request, hash);
    if (k == PTI_LET_GO)
        return NULL;
    pti_prepared *prepared = queue->let_go[k];
    queue->let_go[k] = NULL;
    return prepared;
}

void pti_forget_let_go(polytile_queue *queue, int position) {
    for (int k = 0; k < PTI_LET_GO; k++) {
        if (queue->let_go[k] != NULL &&
            (position < 0 || looks_position_up(queue->let_go[k], position))) {
            pti_prepared_free(queue->let_go[k]);
            queue->let_go[k] = NULL;
        }
    }
}
