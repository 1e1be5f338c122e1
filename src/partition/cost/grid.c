#include "partition/cost/grid.h"

#include "access/set/range.h"
#include "base/checked.h"

const int64_t pti_one_block[POLYTILE_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};

pti_grid pti_grid_of(const polytile_domain *threads, const int64_t *block) {
    pti_grid grid = {.threads = *threads};
    for (int d = 0; d < threads->n_dims; d++) {
        grid.block[d] = block[d];
        grid.n_blocks[d] = pti_ceil_div(pti_range_count(threads->range[d]), block[d]);
    }
    return grid;
}

/** Return the threads of the blocks first .. first + n_blocks - 1 along a dimension. */
static polytile_range range_of_blocks(const pti_grid *grid, int64_t first, int64_t n_blocks,
                                      int d) {
    polytile_range range = grid->threads.range[d];
    int64_t end_block = pti_min(first + n_blocks, grid->n_blocks[d]);
    int64_t lo = range.lo + first * grid->block[d];
    bool is_last = end_block == grid->n_blocks[d];
    return (polytile_range){lo, is_last ? range.hi : range.lo + end_block * grid->block[d] - 1, 1};
}

polytile_domain pti_grid_box(const pti_grid *grid, const int64_t *first, const int64_t *shape) {
    polytile_domain box = {.n_dims = grid->threads.n_dims};
    for (int d = 0; d < box.n_dims; d++)
        box.range[d] = range_of_blocks(grid, first[d], shape[d], d);
    return box;
}

polytile_range pti_grid_range(const pti_grid *grid, int64_t shape, int64_t position, int d) {
    return range_of_blocks(grid, position * shape, shape, d);
}

polytile_domain pti_grid_superblock(const pti_grid *grid, const int64_t *shape,
                                    const int64_t *position) {
    polytile_domain box = {.n_dims = grid->threads.n_dims};
    for (int d = 0; d < box.n_dims; d++)
        box.range[d] = pti_grid_range(grid, shape[d], position[d], d);
    return box;
}

int64_t pti_grid_quotient(const pti_grid *grid, const int64_t *shape, int d) {
    return pti_ceil_div(grid->n_blocks[d], shape[d]);
}

int64_t pti_grid_n_superblocks(const pti_grid *grid, const int64_t *shape) {
    int64_t n_superblocks = 1;
    for (int d = 0; d < grid->threads.n_dims; d++) {
        if (pti_mul_overflows(n_superblocks, pti_grid_quotient(grid, shape, d), &n_superblocks))
            return INT64_MAX;
    }
    return n_superblocks;
}

void pti_grid_default_block(const polytile_domain *threads, int64_t *block) {
    enum { BLOCK_THREADS = 256, WARP_THREADS = 32 };
    int64_t left = BLOCK_THREADS;
    for (int d = threads->n_dims - 1; d >= 0; d--) {
        int64_t wanted = left;
        if (d == threads->n_dims - 1 && d > 0)
            wanted = WARP_THREADS;
        else if (d > 1)
            wanted = pti_min(left, 4);
        block[d] = pti_min(wanted, pti_range_count(threads->range[d]));
        left = pti_max(left / wanted, 1);
    }
}

bool pti_grid_halve_block(int n_dims, int64_t *block) {
    int largest = 0;
    for (int d = 1; d < n_dims; d++) {
        if (block[d] > block[largest])
            largest = d;
    }
    if (block[largest] == 1)
        return false;
    block[largest] = pti_ceil_div(block[largest], 2);
    return true;
}
