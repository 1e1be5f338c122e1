#ifndef POLYTILE_PARTITION_CHOOSE_PAPER_H
#define POLYTILE_PARTITION_CHOOSE_PAPER_H

#include "partition/cut/candidate.h"

/**
 * The superblock shape that the linear equations of the paper give, whether or not it fits.
 *
 * One sample of the memory of one block and one of two blocks along each index define a plane;
 * shapes on it where it meets the limit are tried, and the fewest kernels win; of shapes with as few,
 * the one with the fewest once it is halved until it fits. Memory really grows with the product of
 * the extents, so in two and more dimensions the answer can exceed the limit many times over. False
 * when the plane says that not even one block fits.
 *
 * Source  Torres et al., section IV-B and IV-C, literally.
 */
bool pti_paper_shape(const pti_problem *problem, int n_buffers, int64_t *shape);

/** Halve the longest extent of a shape until it seems to fit; false if one block does not. */
bool pti_paper_shrink(const pti_problem *problem, int n_buffers, int64_t *shape);

#endif
