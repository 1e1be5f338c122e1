#include "distribute/store.h"

#include "base/checked.h"

/** Elements that a thread fills in one go: enough to forget about finding the first. */
enum { FILLED_AT_ONCE = 4096 };

/** Where an element of a box is, by its number in C order. */
static char *locate(const pti_stored_box *stored, int64_t element_bytes, int64_t number,
                    int64_t *index) {
    int64_t place = 0, n_behind = 1;
    for (int d = stored->box.n_dims - 1; d >= 0; d--) {
        polytile_range range = stored->box.range[d];
        int64_t count = pti_range_count(range);
        index[d] = range.lo + number % count * range.step;
        number /= count;
        place += (index[d] - stored->around.range[d].lo) * n_behind;
        n_behind *= pti_range_count(stored->around.range[d]);
    }
    return stored->memory + place * element_bytes;
}

/** Fill elements of a box from a number on, row by row. */
static void fill_some(const pti_stored_box *stored, int64_t element_bytes, int64_t number,
                      int64_t end, pti_element_function *element, void *user) {
    int64_t index[POLYTILE_MAX_DIMS];
    int last = stored->box.n_dims - 1;
    polytile_range range = stored->box.range[last];
    while (number < end) {
        char *at = locate(stored, element_bytes, number, index);
        for (; number < end && index[last] <= range.hi; number++, index[last] += range.step) {
            element(index, at, user);
            at += element_bytes * range.step;
        }
    }
}

static void fill_box(const pti_stored_box *stored, int64_t element_bytes,
                     pti_element_function *element, void *user) {
    int64_t count = pti_box_count(&stored->box);
    int64_t n_parts = pti_ceil_div(count, FILLED_AT_ONCE);
#pragma omp parallel for schedule(static) if (n_parts > 1)
    for (int64_t k = 0; k < n_parts; k++)
        fill_some(stored, element_bytes, k * FILLED_AT_ONCE,
                  pti_min(count, (k + 1) * FILLED_AT_ONCE), element, user);
}

void pti_store_fill(const pti_store *store, pti_element_function *element, void *user) {
    for (int k = 0; k < store->n_boxes; k++)
        fill_box(&store->box[k], store->element_bytes, element, user);
}
