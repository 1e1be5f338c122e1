#include "launch/access_check/blocks.h"

#include "access/set/range.h"
#include "base/checked.h"
#include "base/mix.h"

#include <stddef.h>

pti_grid pti_check_grid_of(const polytile_domain *threads, const int64_t *block) {
    int64_t extent[POLYTILE_MAX_DIMS];
    for (int d = 0; d < threads->n_dims; d++)
        extent[d] = block == NULL ? 1 : pti_max(1, block[d]);
    return pti_grid_of(threads, extent);
}

int64_t pti_check_count_drawn(const pti_grid *grid, int64_t n_most) {
    return pti_min(pti_grid_n_superblocks(grid, pti_one_block), n_most);
}

/** Find the position of the k-th block in C order. */
static void locate_block(const pti_grid *grid, int64_t k, int64_t *position) {
    for (int d = grid->threads.n_dims - 1; d >= 0; d--) {
        position[d] = k % grid->n_blocks[d];
        k /= grid->n_blocks[d];
    }
}

/** Find the position of the k-th corner of the grid; of a random block after the last corner. */
static void draw_position(const pti_grid *grid, int64_t k, int64_t *position) {
    const bool is_corner = k < INT64_C(1) << grid->threads.n_dims;
    for (int d = 0; d < grid->threads.n_dims; d++) {
        const int64_t drawn =
            (int64_t)(pti_scramble((uint64_t)k * POLYTILE_MAX_DIMS + (uint64_t)d) %
                      (uint64_t)grid->n_blocks[d]);
        position[d] = is_corner ? (k >> d & 1) * (grid->n_blocks[d] - 1) : drawn;
    }
}

polytile_domain pti_check_draw_block(const pti_grid *grid, int64_t n_most, int64_t k) {
    int64_t position[POLYTILE_MAX_DIMS];
    if (pti_grid_n_superblocks(grid, pti_one_block) <= n_most)
        locate_block(grid, k, position);
    else
        draw_position(grid, k, position);
    return pti_grid_superblock(grid, pti_one_block, position);
}

bool pti_check_halve(const pti_grid *grid, const polytile_domain *box, polytile_domain *halves) {
    int widest = 0;
    int64_t most = 0;
    for (int d = 0; d < box->n_dims; d++) {
        int64_t n = pti_ceil_div(pti_range_count(box->range[d]), grid->block[d]);
        if (n > most) {
            most = n;
            widest = d;
        }
    }
    halves[0] = halves[1] = *box;
    if (most < 2)
        return false;
    halves[0].range[widest].hi = box->range[widest].lo + most / 2 * grid->block[widest] - 1;
    halves[1].range[widest].lo = halves[0].range[widest].hi + 1;
    return true;
}
