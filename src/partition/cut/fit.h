#ifndef POLYTILE_PARTITION_CUT_FIT_H
#define POLYTILE_PARTITION_CUT_FIT_H

#include "partition/cut/candidate.h"

/* Whether superblocks of a shape fit the limit, wherever they lie. */

/**
 * A quick test at the positions that are usually the worst: the middle along indices with which
 * footprints only move, ends and middle along the others. A shape that fails it does not fit.
 */
bool pti_fit_quick(const pti_problem *problem, const pti_variant *variant, const int64_t *shape);

/**
 * The test itself: every superblock where they are few, otherwise ends, their neighbours and the
 * middle along each index. The schedule's own count has the last word.
 */
bool pti_fit_full(const pti_problem *problem, const pti_variant *variant, const int64_t *shape);

/** Return whether single blocks fit. */
bool pti_fit_block(const pti_problem *problem, int n_buffers);

/** Halve the longest extent of a shape until it seems to fit; false if one block does not. */
bool pti_fit_shrink(const pti_problem *problem, const pti_variant *variant, int64_t *shape);

#endif
