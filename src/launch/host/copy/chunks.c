#include "launch/host/copy/chunks.h"

#include "access/set/boxes.h"
#include "base/checked.h"

#include <stdbool.h>

/** Widen the chunks by one more whole dimension, if that holds the limit. */
static bool takes_whole(polytile_range range, int64_t max_bytes, int64_t *chunk_bytes) {
    int64_t wider_bytes;
    if (pti_mul_overflows(*chunk_bytes, pti_range_count(range), &wider_bytes) ||
        wider_bytes > max_bytes)
        return false;
    *chunk_bytes = wider_bytes;
    return true;
}

/** Return the number of chunks along the range that is cut. */
static int64_t count_along(const pti_chunks *chunks) {
    return pti_ceil_div(pti_range_count(chunks->box.range[chunks->dim]), chunks->n_indices);
}

pti_chunks pti_chunks_of(const polytile_domain *box, int64_t element_bytes, int64_t max_bytes) {
    pti_chunks chunks = {.box = *box, .dim = box->n_dims - 1};
    if (pti_box_is_empty(box))
        return chunks;
    int64_t inner_bytes = element_bytes;
    while (chunks.dim > 0 && takes_whole(box->range[chunks.dim], max_bytes, &inner_bytes))
        chunks.dim--;
    int64_t count = pti_range_count(box->range[chunks.dim]);
    int64_t most_indices = pti_max(1, max_bytes / inner_bytes);
    chunks.n_indices = pti_ceil_div(count, pti_ceil_div(count, most_indices));
    chunks.n_chunks = count_along(&chunks);
    for (int d = 0; d < chunks.dim; d++)
        chunks.n_chunks *= pti_range_count(box->range[d]);
    return chunks;
}

polytile_domain pti_chunks_get(const pti_chunks *chunks, int64_t k) {
    polytile_domain chunk = chunks->box;
    int64_t n_along = count_along(chunks);
    int64_t outer = k / n_along;
    chunk.range[chunks->dim] = pti_range_slice(chunk.range[chunks->dim],
                                               k % n_along * chunks->n_indices, chunks->n_indices);
    for (int d = chunks->dim - 1; d >= 0; d--) {
        int64_t count = pti_range_count(chunk.range[d]);
        chunk.range[d] = pti_range_slice(chunk.range[d], outer % count, 1);
        outer /= count;
    }
    return chunk;
}
