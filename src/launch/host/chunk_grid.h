#ifndef POLYTILE_LAUNCH_HOST_CHUNK_GRID_H
#define POLYTILE_LAUNCH_HOST_CHUNK_GRID_H

#include "access/footprint/footprint.h"

/* How host threads share the box of threads of one launch. */

/** A grid of chunks: dimension d is cut into n_chunks_along[d] contiguous, about equal
 * parts. */
typedef struct pti_chunk_grid {
    int64_t n_chunks_along[POLYTILE_MAX_DIMS];
    int64_t n_chunks;
    double balance; /* mean work of a worker over that of the busiest: 1 is perfect */
} pti_chunk_grid;

/**
 * Cut a box for n_workers along the dimensions that may be cut, as evenly as possible.
 *
 * Outer dimensions are preferred, so that chunks stay contiguous in memory.
 */
pti_chunk_grid pti_chunk_grid_evenly(const polytile_domain *threads, int n_workers,
                                     const bool *may_cut);

/** Return the k-th chunk in C order, 0 <= k < n_chunks. */
polytile_domain pti_chunk_grid_get(const polytile_domain *threads, const pti_chunk_grid *grid,
                                   int64_t k);

/** Return whether no two chunks write in the same part of an operand; false also if memory runs
 * out. */
bool pti_chunk_grid_separates(const pti_instance *instance, int operand,
                              const polytile_domain *threads, const pti_chunk_grid *grid);

#endif
