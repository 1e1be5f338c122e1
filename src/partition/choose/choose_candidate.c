#include "partition/choose/choose_candidate.h"

#include "base/checked.h"
#include "partition/bound/bound.h"

#include <math.h>

/** Estimates are no better than this: others may be faster in truth. */
static const double worth_a_schedule = 1.03;

/** A plan that moves less is worth some time where the fastest moves this many times what any plan
 * must. It may take this many times as long, and this many times if it moves hardly more than any
 * plan must with so much memory. */
static const double much_traffic = 1.1, as_good = 1.03, long_enough = 1.2;

/** The part of a plan's time from which on the link is busy. */
static const double busy_part = 0.125;

/** What a candidate with fewer strips must move, at most, of what one with more strips does: those
 * hide more. */
static const double much_less = 0.98;

/** The best candidate of a family so far. */
typedef struct champion {
    bool found;
    pti_candidate best;
} champion;

/** Let the best candidate of a variant replace a champion, if it is better; false if none fits. */
static bool challenge_champion(const pti_contest *contest, const pti_variant *variant,
                               champion *best) {
    pti_candidate candidate;
    if (!pti_search(contest->problem, contest->objective, variant, &candidate))
        return false;
    if (!best->found || contest->objective->is_better(&candidate, &best->best))
        *best = (champion){true, candidate};
    return true;
}

/** Find the best candidate among all variants of a family, if its shapes are searched for and
 * wanted. */
static champion find_champion(const pti_contest *contest, const pti_family *family) {
    champion best = {0};
    pti_variant variant = pti_variant_of(family, 0);
    bool fits = true;
    if (family->next == NULL || family->seconds == NULL ||
        !pti_objective_wants(contest->objective, family))
        return best;
    while (family->next(contest->problem, &contest->buffers, fits, &variant))
        fits = challenge_champion(contest, &variant, &best);
    return best;
}

int pti_contest_best(const pti_contest *contest, pti_candidate best[PTI_N_FAMILIES]) {
    champion all[PTI_N_FAMILIES];
    const champion *first = NULL;
    int n_best = 0;
    for (int k = 0; k < PTI_N_FAMILIES; k++) {
        all[k] = find_champion(contest, pti_families[k]);
        if (all[k].found &&
            (first == NULL || contest->objective->is_better(&all[k].best, &first->best)))
            first = &all[k];
    }
    if (first != NULL)
        best[n_best++] = first->best;
    for (int k = 0; k < PTI_N_FAMILIES; k++) {
        if (all[k].found && &all[k] != first &&
            all[k].best.seconds <= worth_a_schedule * first->best.seconds)
            best[n_best++] = all[k].best;
    }
    return n_best;
}

/** Return the variant in which to look for a candidate that moves less: strips, which hide most,
 * else plain superblocks with the fastest one's buffers, within the allowed number. */
static pti_variant frugal_variant(const pti_contest *contest, const pti_candidate *fastest) {
    pti_variant strips = pti_variant_of(&pti_family_strips, 0);
    if (pti_family_strips.next(contest->problem, &contest->buffers, true, &strips))
        return strips;
    return pti_variant_of(&pti_family_plain,
                          (int)pti_min(fastest->variant.n_buffers, contest->buffers.last));
}

/** Find the candidate that moves least among those that take at most max_time_ratio times as long
 * as the fastest; false if that is the fastest. */
static bool find_least(const pti_contest *contest, double max_time_ratio,
                       const pti_candidate *fastest, pti_candidate *least) {
    pti_problem relaxed = *contest->problem;
    relaxed.enough_s = max_time_ratio * fastest->run_s;
    pti_variant variant = frugal_variant(contest, fastest);
    *least = *fastest;
    do {
        pti_candidate candidate;
        if (pti_search(&relaxed, contest->objective, &variant, &candidate) &&
            candidate.seconds <= relaxed.enough_s &&
            pti_candidate_bytes(&candidate) < much_less * pti_candidate_bytes(least))
            *least = candidate;
    } while (variant.family->next(&relaxed, &contest->buffers, false, &variant));
    return pti_candidate_bytes(least) < pti_candidate_bytes(fastest);
}

/** Return whether a candidate brings in little more than any plan must with so much memory, and
 * that is more than each element once. */
static bool is_near_bound(pti_contest *contest, const pti_candidate *candidate) {
    pti_bound bound = pti_bound_find(contest->problem->instance, contest->problem->limit_bytes);
    contest->failed = contest->failed || bound.failed;
    return bound.kind != PTI_BOUND_COMPULSORY &&
           candidate->upload_bytes <= much_traffic * (double)bound.goal_bytes;
}

/** Return whether a candidate moves so much that less is worth some time. */
static bool moves_much(pti_contest *contest, const pti_candidate *candidate) {
    pti_bound least = pti_bound_find(contest->problem->instance, INT64_MAX);
    contest->failed = contest->failed || least.failed;
    return pti_candidate_bytes(candidate) >
           much_traffic * ((double)least.h2d_bytes + (double)least.d2h_bytes);
}

/** Return whether a candidate keeps the link busy for a good part of its time. */
static bool fills_link(const pti_problem *problem, const pti_candidate *candidate) {
    return fmax(candidate->upload_bytes, candidate->download_bytes) /
               problem->link->duplex_bytes_per_s >
           busy_part * candidate->run_s;
}

bool pti_contest_less(pti_contest *contest, const pti_candidate *fastest, pti_candidate *less,
                      double *max_time_ratio) {
    const pti_problem *problem = contest->problem;
    if (!contest->objective->for_time || !moves_much(contest, fastest))
        return false;
    *max_time_ratio = long_enough;
    if (fills_link(problem, fastest) && find_least(contest, *max_time_ratio, fastest, less) &&
        is_near_bound(contest, less))
        return true;
    *max_time_ratio = as_good;
    return find_least(contest, *max_time_ratio, fastest, less);
}
