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

void pti_let_go(polytile_queue *queue, pti_prepared *prepared, int position) {
    enum { LAST = PTI_LET_GO - 1 };
    if (prepared->instance == NULL || queue->residency == NULL || position < 0 ||
        !looks_position_up(prepared, -1) || looks_position_up(prepared, position)) {
        pti_prepared_free(prepared);
        return;
    }
    pti_prepared_free(queue->let_go[LAST]);
    memmove(&queue->let_go[1], &queue->let_go[0], LAST * sizeof queue->let_go[0]);
    queue->let_go[0] = prepared;
}

static bool has_same_indices(const pti_prepared *one, const pti_prepared *other) {
    const pti_inspection *a = one->instance->inspection, *b = other->instance->inspection;
    return b != NULL && a->n_operands == b->n_operands &&
           memcmp(a->array, b->array, (size_t)a->n_operands * sizeof *a->array) == 0;
}

const pti_prepared *pti_find_let_go(const polytile_queue *queue, const pti_request *request,
                                    const pti_prepared *prepared) {
    for (int k = 0; k < PTI_LET_GO; k++) {
        const pti_prepared *kept = queue->let_go[k];
        if (kept != NULL && kept->hash == prepared->hash && pti_prepared_is_for(kept, request) &&
            has_same_indices(kept, prepared) && kept->arena_bytes == prepared->arena_bytes &&
            kept->all_fit == prepared->all_fit)
            return kept;
    }
    return NULL;
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
