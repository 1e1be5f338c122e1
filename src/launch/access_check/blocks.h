#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_BLOCKS_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_BLOCKS_H

#include "partition/cost/grid.h"

/* The blocks of a launch, of which the check runs some or all. */

/** Cut threads into blocks. block: threads along each index; NULL: each thread is a block. */
pti_grid pti_check_grid_of(const polytile_domain *threads, const int64_t *block);

/** Return how many blocks to run alone, at most n_most: all of them if they are few, else those at
 * the corners and some random ones, always the same. */
int64_t pti_check_count_drawn(const pti_grid *grid, int64_t n_most);
/** Return the threads of the k-th of these blocks. */
polytile_domain pti_check_draw_block(const pti_grid *grid, int64_t n_most, int64_t k);

/** Halve a box of whole blocks along the index with the most blocks; false: it is one block. */
bool pti_check_halve(const pti_grid *grid, const polytile_domain *box, polytile_domain *halves);

#endif
