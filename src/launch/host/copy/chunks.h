#ifndef POLYTILE_LAUNCH_HOST_COPY_CHUNKS_H
#define POLYTILE_LAUNCH_HOST_COPY_CHUNKS_H

#include <polytile/domain.h>

/* A box in chunks of a limited number of bytes, boxes that follow each other in C order. */

/** How a box is cut: whole in the dimensions after dim, n_indices at a time along dim, one by one
 * in the dimensions before it. */
typedef struct pti_chunks {
    polytile_domain box;
    int dim;
    int64_t n_indices; /* of dim's range, steps counted */
    int64_t n_chunks;
} pti_chunks;

/**
 * Cut a box into about equal chunks, as few as this way of cutting allows; an empty box has none.
 *
 * Units  max_bytes: of a chunk's elements without gaps; only a single larger element exceeds it.
 *        Chunks are more than half as large on average: there are fewer than 1 + 2 * bytes /
 *        max_bytes.
 */
pti_chunks pti_chunks_of(const polytile_domain *box, int64_t element_bytes, int64_t max_bytes);

/** Return the k-th chunk, 0 <= k < n_chunks. */
polytile_domain pti_chunks_get(const pti_chunks *chunks, int64_t k);

#endif
