#include "launch/access_check/values.h"

#include "base/checked.h"
#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

/** Places of the table, places that are tried for one value, and about how many elements are
 * read. */
enum { N_PLACES = 256, N_PROBES = 8, MOST_ELEMENTS = 1 << 22 };

/** Values, borrowed from the array, each at the place of its hash, or close after it. */
typedef struct table {
    const unsigned char *at[N_PLACES];
} table;

static uint64_t hash_element(const unsigned char *element, int64_t element_bytes) {
    uint64_t hash = 0;
    for (int64_t at = 0; at < element_bytes; at += (int64_t)sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, element + at, (size_t)pti_min(element_bytes - at, (int64_t)sizeof word));
        hash = pti_mix(hash, (int64_t)word);
    }
    return pti_scramble(hash);
}

/** Add an element's value. If there are more values than places, the first ones stay. */
static void add_value(table *seen, const unsigned char *element, int64_t element_bytes) {
    uint64_t hash = hash_element(element, element_bytes);
    for (uint64_t probe = 0; probe < N_PROBES; probe++) {
        const unsigned char **place = &seen->at[(hash + probe) % N_PLACES];
        if (*place == NULL)
            *place = element;
        if (memcmp(*place, element, (size_t)element_bytes) == 0)
            return;
    }
}

static const unsigned char *element_of(const polytile_array *array, int64_t k) {
    return (const unsigned char *)array->data + k * array->element_bytes;
}

static void look_through(const polytile_array *array, table *seen) {
    int64_t n = array->n_bytes / array->element_bytes;
    int64_t step = pti_ceil_div(n, MOST_ELEMENTS) | 1;
    for (int64_t k = 0; k < n; k += step)
        add_value(seen, element_of(array, k), array->element_bytes);
}

static void take_some(const polytile_array *array, table *seen) {
    int64_t n = array->n_bytes / array->element_bytes;
    for (int64_t k = 0; k < pti_min(n, N_PLACES); k++)
        seen->at[k] = element_of(array, (int64_t)(pti_scramble((uint64_t)k) % (uint64_t)n));
}

polytile_status pti_values_collect(const polytile_array *array, bool is_set, pti_values *values) {
    table seen = {{NULL}};
    size_t element_bytes = (size_t)array->element_bytes;
    *values = (pti_values){.element_bytes = array->element_bytes, .n = 1};
    values->bytes = calloc(N_PLACES + 1, element_bytes);
    if (values->bytes == NULL)
        return pti_fail_memory(array->object.context, array->name,
                               (double)(N_PLACES + 1) * (double)element_bytes);
    if (is_set)
        look_through(array, &seen);
    else if (array->data != NULL)
        take_some(array, &seen);
    for (int k = 0; k < N_PLACES; k++)
        if (seen.at[k] != NULL)
            memcpy(values->bytes + (size_t)values->n++ * element_bytes, seen.at[k], element_bytes);
    return POLYTILE_OK;
}

void pti_values_free(pti_values *values) {
    free(values->bytes);
    *values = (pti_values){0};
}

const unsigned char *pti_values_get(const pti_values *values, uint64_t bits) {
    return values->bytes + (int64_t)(bits % (uint64_t)values->n) * values->element_bytes;
}
