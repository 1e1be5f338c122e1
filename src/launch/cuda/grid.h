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

/** Return the indices' numbers of threads along x, y and z; along z their product, at most
 * INT64_MAX. */
pti_cuda_extents pti_cuda_extents_of(int n_indices, const int64_t *numbers);

/** Return x * y * z, at most INT64_MAX. */
int64_t pti_cuda_count(pti_cuda_extents extents);

/** Return a block for a box: at most n_threads threads, a warp along x and the rest along y if the
 * box is as wide, and none longer than the box. */
pti_cuda_extents pti_cuda_block_for(const polytile_domain *threads, int n_threads);

/** Fit a block to a box and a kernel: no axis is as long as twice the box, freed threads go to
 * other axes, x first, and there are at most max_threads. */
pti_cuda_extents pti_cuda_block_clip(const polytile_domain *threads, pti_cuda_extents block,
                                     int max_threads);

/** Return a box with one index, from the first on, for each group of neighbours along the index
 * before the last, of which the last group may have fewer; for groups of one it is the same box.
 * Shapes  threads: of one index only if groups are of one. */
polytile_domain pti_cuda_groups_of(const polytile_domain *threads, int n_neighbours);

/** Return the threads of a box of a launch's groups. */
polytile_domain pti_cuda_members_of(const polytile_domain *threads, const polytile_domain *groups,
                                    int n_neighbours);

/** Return a block as pti_cuda_block_for() does, but with all threads along x if the box is as wide:
 * for threads that run neighbours along y. */
pti_cuda_extents pti_cuda_wide_block_for(const polytile_domain *threads, int n_threads);

/** A box cut into parts, each for one grid. */
typedef struct pti_cuda_grids {
    int64_t
        extent[POLYTILE_MAX_DIMS]; /* threads along each index; of the last part perhaps fewer */
    int64_t n_parts;
} pti_cuda_grids;

/**
 * Cut a box into the largest parts whose grids have at most most_blocks, and fewer than 2^32
 * threads along each axis; along the outermost of the indices that share z.
 *
 * Shapes  threads: not empty, steps 1.
 */
pti_cuda_grids pti_cuda_grids_of(const polytile_domain *threads, pti_cuda_extents block,
                                 pti_cuda_extents most_blocks);

/** Return the k-th part in C order, 0 <= k < n_parts. */
polytile_domain pti_cuda_grid_box(const polytile_domain *threads, const pti_cuda_grids *parts,
                                  int64_t k);

/** Return the blocks of a grid that covers a box. */
pti_cuda_extents pti_cuda_grid_of(const polytile_domain *threads, pti_cuda_extents block);

#endif
