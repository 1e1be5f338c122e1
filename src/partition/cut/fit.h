#ifndef POLYTILE_PARTITION_CUT_FIT_H
#define POLYTILE_PARTITION_CUT_FIT_H

#include "partition/cut/candidate.h"

/* Whether superblocks of a shape fit the limit, wherever they lie. */

/**
 * A quick test at the positions that are usually the worst: the middle along indices with which
 * footprints only move, ends and middle along the others. A shape that fails it does not fit.
 */
bool pti_fit_quick(const pti_problem *problem, const int64_t *shape, int n_buffers);

/**
 * The test itself: every superblock where they are few, otherwise ends, their neighbours and the
 * middle along each index. The schedule's own count has the last word.
 */
bool pti_fit_full(const pti_problem *problem, const int64_t *shape, int n_buffers);

#endif
