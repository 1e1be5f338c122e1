#ifndef POLYTILE_LAUNCH_CUDA_GRID_H
#define POLYTILE_LAUNCH_CUDA_GRID_H

#include "access/set/boxes.h"

/* Boxes of threads as CUDA grids. The last index runs along x, the one before along y, and all
 * others together along z, the last of them fastest. */

/** Threads or blocks along x, y and z. */
typedef struct pti_cuda_extents {
    int64_t x, y, z;
} pti_cuda_extents;

/** The most threads of a block along each, and the most blocks of a grid: the same on every GPU. */
extern const pti_cuda_extents pti_cuda_most_threads;
extern const pti_cuda_extents pti_cuda_most_blocks;

/** The indices' numbers (of threads in a box or a block) along x, y and z; the product of those
 * along z, at most INT64_MAX. */
pti_cuda_extents pti_cuda_extents_of(int n_indices, const int64_t *numbers);

/** x * y * z, at most INT64_MAX. */
int64_t pti_cuda_count(pti_cuda_extents extents);

/** A block shape for a box: at most n_threads threads, a warp along x and the rest along y where
 * the box is as wide, and no further than the box along any. */
pti_cuda_extents pti_cuda_block_for(const polytile_domain *threads, int n_threads);

/** A block shape as near to a given one as a box and a kernel allow: no axis as long as twice the
 * box's, its threads put along other axes where there is room, x first, and at most max_threads. */
pti_cuda_extents pti_cuda_block_clip(const polytile_domain *threads, pti_cuda_extents block,
                                     int max_threads);

/** A box cut into parts of which each is one grid. */
typedef struct pti_cuda_parts {
    int64_t
        extent[POLYTILE_MAX_DIMS]; /* threads along each index; of the last part perhaps fewer */
    int64_t n_parts;
} pti_cuda_parts;

/**
 * Parts whose grids have at most most_blocks, and fewer than 2^32 threads along each axis; each as
 * large as that allows; cut along the outermost of the indices that go along z together.
 *
 * Shapes  threads: not empty, steps 1.
 */
pti_cuda_parts pti_cuda_parts_of(const polytile_domain *threads, pti_cuda_extents block,
                                 pti_cuda_extents most_blocks);

/** The k-th part in C order, 0 <= k < n_parts. */
polytile_domain pti_cuda_part(const polytile_domain *threads, const pti_cuda_parts *parts,
                              int64_t k);

/** The blocks of a grid that covers a box. */
pti_cuda_extents pti_cuda_grid_of(const polytile_domain *threads, pti_cuda_extents block);

#endif
