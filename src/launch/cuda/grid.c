#include "launch/cuda/grid.h"

#include "base/checked.h"

enum {
    WARP_THREADS = 32,
    FEW_PLANES = 4, /* deep enough for neighbouring planes to share what they read */
};

/** Threads of a part along x: with those outside it, a grid's places still fit 32 bits. */
static const int64_t most_threads_along_x = (int64_t)1 << 31;

const pti_cuda_extents pti_cuda_most_threads = {1024, 1024, 64};
const pti_cuda_extents pti_cuda_most_blocks = {INT32_MAX, UINT16_MAX, UINT16_MAX};

pti_cuda_extents pti_cuda_extents_of(int n_indices, const int64_t *numbers) {
    pti_cuda_extents extents = {1, 1, 1};
    for (int d = 0; d < n_indices - 2; d++)
        extents.z = pti_mul_saturated(extents.z, numbers[d]);
    if (n_indices > 1)
        extents.y = numbers[n_indices - 2];
    extents.x = numbers[n_indices - 1];
    return extents;
}

int64_t pti_cuda_count(pti_cuda_extents extents) {
    return pti_mul_saturated(pti_mul_saturated(extents.x, extents.y), extents.z);
}

static pti_cuda_extents extents_of_box(const polytile_domain *threads) {
    int64_t counts[POLYTILE_MAX_DIMS];
    for (int d = 0; d < threads->n_dims; d++)
        counts[d] = pti_range_count(threads->range[d]);
    return pti_cuda_extents_of(threads->n_dims, counts);
}

/** Widen a block along one axis by a power of two, from the free threads, until it spans the box or
 * has `most` threads there. */
static void double_block_axis(int64_t *along, int64_t extent, int64_t most, int64_t *n_left) {
    while (*along < extent && *along * 2 <= most && *n_left >= 2) {
        *along *= 2;
        *n_left /= 2;
    }
}

/** Double the axes of a block in this order, as far as the box, the free threads and `most` allow.
 * */
static void double_block(pti_cuda_extents *block, pti_cuda_extents box, pti_cuda_extents most,
                         int64_t *n_left) {
    double_block_axis(&block->x, box.x, most.x, n_left);
    double_block_axis(&block->y, box.y, most.y, n_left);
    double_block_axis(&block->z, box.z, most.z, n_left);
}

pti_cuda_extents pti_cuda_block_for(const polytile_domain *threads, int n_threads) {
    const pti_cuda_extents box = extents_of_box(threads), most = pti_cuda_most_threads;
    const pti_cuda_extents first = {WARP_THREADS, most.y, FEW_PLANES};
    pti_cuda_extents block = {1, 1, 1};
    int64_t n_left = n_threads;
    double_block(&block, box, first, &n_left);
    double_block(&block, box, most, &n_left);
    return block;
}

pti_cuda_extents pti_cuda_wide_block_for(const polytile_domain *threads, int n_threads) {
    pti_cuda_extents block = {1, 1, 1};
    int64_t n_left = n_threads;
    double_block(&block, extents_of_box(threads), pti_cuda_most_threads, &n_left);
    return block;
}

/** Halve a block along one axis until it is shorter than twice the box; return the freed factor. */
static int64_t narrow_axis(int64_t *along, int64_t extent) {
    int64_t n_freed = 1;
    while (*along >= 2 * extent) {
        *along /= 2;
        n_freed *= 2;
    }
    return n_freed;
}

/** Halve a block along its slowest axis possible, until it has at most max_threads. */
static void shrink_block(pti_cuda_extents *block, int max_threads) {
    while (pti_cuda_count(*block) > max_threads) {
        int64_t *slowest = block->z > 1 ? &block->z : block->y > 1 ? &block->y : &block->x;
        *slowest /= 2;
    }
}

pti_cuda_extents pti_cuda_block_clip(const polytile_domain *threads, pti_cuda_extents block,
                                     int max_threads) {
    const pti_cuda_extents box = extents_of_box(threads);
    int64_t n_left = narrow_axis(&block.x, box.x);
    n_left *= narrow_axis(&block.y, box.y);
    n_left *= narrow_axis(&block.z, box.z);
    double_block(&block, box, pti_cuda_most_threads, &n_left);
    shrink_block(&block, max_threads);
    return block;
}

/** Return the dimension along which a thread runs neighbours. */
static int grouped_dim(const polytile_domain *threads) {
    return (int)pti_max(threads->n_dims - 2, 0);
}

polytile_domain pti_cuda_groups_of(const polytile_domain *threads, int n_neighbours) {
    polytile_domain groups = *threads;
    polytile_range *range = &groups.range[grouped_dim(threads)];
    range->hi = range->lo + pti_ceil_div(pti_range_count(*range), n_neighbours) - 1;
    return groups;
}

polytile_domain pti_cuda_members_of(const polytile_domain *threads, const polytile_domain *groups,
                                    int n_neighbours) {
    polytile_domain members = *groups;
    const polytile_range *all = &threads->range[grouped_dim(threads)];
    polytile_range *some = &members.range[grouped_dim(threads)];
    some->lo = all->lo + (some->lo - all->lo) * n_neighbours;
    some->hi = pti_min(all->hi, all->lo + (some->hi - all->lo + 1) * n_neighbours - 1);
    return members;
}

pti_cuda_grids pti_cuda_grids_of(const polytile_domain *threads, pti_cuda_extents block,
                                 pti_cuda_extents most_blocks) {
    enum { Z = 2 };
    pti_cuda_grids parts = {.n_parts = 1};
    int64_t most[] = {pti_min(pti_mul_saturated(most_blocks.x, block.x), most_threads_along_x),
                      pti_mul_saturated(most_blocks.y, block.y),
                      pti_mul_saturated(most_blocks.z, block.z)};
    for (int d = threads->n_dims - 1; d >= 0; d--) {
        int axis = (int)pti_min(threads->n_dims - 1 - d, Z);
        int64_t count = pti_range_count(threads->range[d]);
        parts.extent[d] = pti_min(count, most[axis]);
        parts.n_parts = pti_mul_saturated(parts.n_parts, pti_ceil_div(count, parts.extent[d]));
        most[axis] /= parts.extent[d];
    }
    return parts;
}

polytile_domain pti_cuda_grid_box(const polytile_domain *threads, const pti_cuda_grids *parts,
                                  int64_t k) {
    polytile_domain part = *threads;
    for (int d = threads->n_dims - 1; d >= 0; d--) {
        polytile_range *range = &part.range[d];
        int64_t n_along = pti_ceil_div(pti_range_count(*range), parts->extent[d]);
        range->lo += k % n_along * parts->extent[d];
        range->hi = pti_min(range->hi, range->lo + parts->extent[d] - 1);
        k /= n_along;
    }
    return part;
}

pti_cuda_extents pti_cuda_grid_of(const polytile_domain *threads, pti_cuda_extents block) {
    pti_cuda_extents box = extents_of_box(threads);
    return (pti_cuda_extents){pti_ceil_div(box.x, block.x), pti_ceil_div(box.y, block.y),
                              pti_ceil_div(box.z, block.z)};
}
