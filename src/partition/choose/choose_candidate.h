#ifndef POLYTILE_PARTITION_CHOOSE_CHOOSE_CANDIDATE_H
#define POLYTILE_PARTITION_CHOOSE_CHOOSE_CANDIDATE_H

#include "partition/choose/search.h"

/* Which candidates are worth a schedule: the fastest of each family, by estimates, and one that
 * moves less. */

/** Among what candidates are sought. */
typedef struct pti_contest {
    const pti_problem *problem;
    const pti_objective *objective;
    int first_buffers; /* the numbers of buffers to try */
    int last_buffers;
    int line_buffers; /* the most where some pieces have one place only */
    bool failed;      /* set where memory ran out: there may be better ones */
} pti_contest;

/** Plain superblocks, those in strips, and those in lines. */
enum { PTI_N_FAMILIES = 3 };

/** The best candidate of each family, the best of all first, without those that are much worse; how
 * many they are: 0 where nothing fits. */
int pti_contest_best(const pti_contest *contest, pti_candidate best[PTI_N_FAMILIES]);

/** A candidate that moves less than the fastest one, where that moves much, and how many times as
 * long it may take: somewhat longer if the link is busy and hardly any plan can move less, else
 * hardly longer. False if there is none. */
bool pti_contest_less(pti_contest *contest, const pti_candidate *fastest, pti_candidate *less,
                      double *patience);

#endif
