#ifndef POLYTILE_LAUNCH_CUDA_GRID_H
#define POLYTILE_LAUNCH_CUDA_GRID_H

#include "access/boxes.h"
#include <stdbool.h>

/* Boxes of threads as CUDA grids. The last index runs along x, the one before along y, and all
 * others together along z, the last of them fastest. */

enum { PTI_CUDA_MAX_BLOCK_THREADS = 1024, PTI_CUDA_MAX_BLOCK_Z = 64 };

/** Threads or blocks along x, y and z. */
typedef struct pti_cuda_extents {
    int64_t x, y, z;
} pti_cuda_extents;

/**
 * The shape of a thread block.
 *
 * asked: threads along each index, or NULL; it is taken if it has at most max_threads threads (and
 * 64 along z), else and without it the block has about n_threads, a warp along x where the box is
 * wide enough.
 */
pti_cuda_extents pti_cuda_block_shape(const polytile_domain *threads, const int64_t *asked,
                                      int n_threads, int max_threads);

/**
 * Take the first part of a box that one grid can cover (2^31 - 1 blocks along x, 65535 along y and
 * z).
 *
 * *rest becomes what is left of *rest behind *part; false when nothing was left. Parts are disjoint
 * boxes that together cover the box.
 */
bool pti_cuda_next_part(polytile_domain *rest, pti_cuda_extents block, polytile_domain *part);

/** The blocks of a grid that covers a part. */
pti_cuda_extents pti_cuda_grid_of(const polytile_domain *part, pti_cuda_extents block);

#endif
