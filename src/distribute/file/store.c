#include "distribute/file/store.h"

#include "base/checked.h"
#include "base/list.h"
#include "launch/host/host.h"

#include <stdlib.h>

static bool grow_store(pti_store *store, int n_more) {
    if (store->failed || n_more > INT32_MAX / 2 - store->n_boxes)
        return false;
    int needed = store->n_boxes + n_more;
    if (needed <= store->capacity)
        return true;
    int capacity = (int)pti_max(needed, 2 * (int64_t)store->n_boxes);
    if (!PTI_RESIZE(store->box, capacity))
        return false;
    store->capacity = capacity;
    return true;
}

void pti_store_add(pti_store *store, const pti_boxes *boxes, const polytile_domain *around,
                   void *memory) {
    store->failed = store->failed || boxes->failed || !grow_store(store, boxes->n_boxes);
    for (int k = 0; k < boxes->n_boxes && !store->failed; k++)
        store->box[store->n_boxes++] =
            (pti_stored_box){.box = boxes->box[k], .around = *around, .memory = memory};
}

void pti_store_free(pti_store *store) {
    free(store->box);
    store->box = NULL;
    store->n_boxes = 0;
    store->capacity = 0;
}

int64_t pti_store_bytes(const pti_store *store) {
    int64_t n_elements = 0;
    for (int k = 0; k < store->n_boxes; k++)
        n_elements += pti_box_count(&store->box[k].box);
    return n_elements * store->element_bytes;
}

void pti_store_fill(const pti_store *store, pti_element_function *element, void *user) {
    for (int k = 0; k < store->n_boxes; k++) {
        const pti_stored_box *stored = &store->box[k];
        pti_memory_layout layout = pti_memory_layout_of(&stored->around, store->element_bytes);
        pti_memory_span memory = {stored->memory, &layout};
        pti_box_fill(&memory, &stored->box, pti_host_default_threads(), element, user);
    }
}
