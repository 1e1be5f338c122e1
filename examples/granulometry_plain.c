/* Openings by plain loops: a cube is three segments, one along each axis. */
#include "granulometry_volume.h"

#include <string.h>

typedef struct line {
    int64_t n;
    int64_t stride;
} line;

/** Replace the elements of a line by the least, or the most, of each and its neighbours. */
static void filter_line(uint8_t *data, line of, bool erodes) {
    uint8_t before = data[0];
    for (int64_t i = 0; i < of.n; ++i) {
        uint8_t *here = data + i * of.stride;
        const uint8_t old = *here, after = i + 1 < of.n ? here[of.stride] : old;
        const uint8_t least = before < old ? before : old, most = before > old ? before : old;
        if (erodes)
            *here = least < after ? least : after;
        else
            *here = most > after ? most : after;
        before = old;
    }
}

static void filter(const volume *v, uint8_t *data, bool erodes) {
    const int64_t *n = v->extent;
    for (int64_t i = 0; i < n[0]; ++i)
        for (int64_t j = 0; j < n[1]; ++j)
            filter_line(data + (i * n[1] + j) * n[2], (line){n[2], 1}, erodes);
    for (int64_t i = 0; i < n[0]; ++i)
        for (int64_t k = 0; k < n[2]; ++k)
            filter_line(data + i * n[1] * n[2] + k, (line){n[1], n[2]}, erodes);
    for (int64_t jk = 0; jk < n[1] * n[2]; ++jk)
        filter_line(data + jk, (line){n[0], n[1] * n[2]}, erodes);
}

static int64_t count(const volume *v, const uint8_t *data) {
    int64_t n = 0;
    for (int64_t e = 0; e < v->n_elements; ++e)
        n += data[e] > 0;
    return n;
}

polytile_status volume_count_plainly(session *s, const volume *v, int64_t n_sizes,
                                     int64_t *counts) {
    void *eroded, *opened;
    TRY(session_allocate(s, "eroded", v->n_elements, false, &eroded));
    TRY(session_allocate(s, "opened", v->n_elements, false, &opened));
    memcpy(eroded, polytile_array_get_data(v->array), (size_t)v->n_elements);
    counts[0] = count(v, eroded);
    for (int64_t size = 1; size <= n_sizes; ++size) {
        filter(v, eroded, true);
        memcpy(opened, eroded, (size_t)v->n_elements);
        for (int64_t n = 0; n < size; ++n)
            filter(v, opened, false);
        counts[size] = count(v, opened);
    }
    return POLYTILE_OK;
}
