#ifndef POLYTILE_PARTITION_CHOOSE_SEARCH_H
#define POLYTILE_PARTITION_CHOOSE_SEARCH_H

#include "partition/cut/candidate.h"

/* The search for the best superblock of a variant. */

/** The most extents of one index that are listed. */
enum { PTI_MAX_EXTENTS = 512 };

/** What a strategy prefers among candidates that fit. */
typedef struct pti_objective {
    pti_is_better *is_better;
    bool fewest_kernels; /* candidates with more kernels than the best can be skipped */
    bool for_time;       /* superblocks smaller than the largest that fit are worth a look */
    int max_shapes;      /* how many shapes of the other indices are tried at most */
    int max_extents;     /* how many extents of one of them */
} pti_objective;

/** Return whether superblocks of a family are worth a look. */
bool pti_objective_wants(const pti_objective *objective, const pti_family *family);

/**
 * Find the best uniform superblock of a variant.
 *
 * Enumerates the distinct quotients of all indices but the longest, O(sqrt(blocks)) an index (every
 * extent where the grid is small), and solves for the longest one. Long lists are thinned out.
 * For the fewest kernels, all quotients that may lead to fewer are then tried, so the result is
 * exact for equal superblocks whose sampled positions fit, up to four million shapes. False when
 * nothing fits.
 *
 * Source  Torres et al., section IV-C solves this with a plane equation, which is not exact; see
 *         docs/planning.md.
 */
bool pti_search(const pti_problem *problem, const pti_objective *objective,
                const pti_variant *variant, pti_candidate *best);

#endif
