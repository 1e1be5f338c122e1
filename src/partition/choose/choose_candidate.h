#ifndef POLYTILE_PARTITION_CHOOSE_CHOOSE_CANDIDATE_H
#define POLYTILE_PARTITION_CHOOSE_CHOOSE_CANDIDATE_H

#include "partition/choose/search.h"
#include "partition/cut/family.h"

/* Which candidates are worth a schedule: the fastest of each family, by estimates, and one that
 * moves less. */

/** What candidates are compared for, and by what. */
typedef struct pti_contest {
    const pti_problem *problem;
    const pti_objective *objective;
    pti_buffer_range buffers;
    bool failed; /* set where memory ran out: there may be better ones */
} pti_contest;

/** The best candidate of each family, the best of all first, without those that are much worse; how
 * many they are: 0 where nothing fits. */
int pti_contest_best(const pti_contest *contest, pti_candidate best[PTI_N_FAMILIES]);

/** A candidate that moves less than the fastest one, where that moves much, and how many times as
 * long it may take: somewhat longer if the link is busy and hardly any plan can move less, else
 * hardly longer. False if there is none. */
bool pti_contest_less(pti_contest *contest, const pti_candidate *fastest, pti_candidate *less,
                      double *max_time_ratio);

#endif
