#include "partition/choose/choose_candidate.h"

#include "partition/bound/bound.h"

#include <math.h>

/** Estimates are no better than this: others may be faster in truth. */
static const double worth_a_schedule = 1.03;

/** From what multiple of the least that any plan moves on less is worth some time, how many times
 * as long a plan may take for it, and how many times if it moves hardly more than any plan must
 * with so much memory. */
static const double much_traffic = 1.1, as_good = 1.03, long_enough = 1.2;

/** The part of a plan's time from which on the link is busy. */
static const double busy_part = 0.125;

/** What a candidate with fewer strips must move, at most, of what one with more strips does: those
 * hide more. */
static const double much_less = 0.98;

static double moved_bytes(const pti_candidate *of) {
    return of->upload_bytes + of->download_bytes;
}

/** Whether superblocks may be cut further, or pieces have fewer places than there are buffers. */
static bool may_have_families(const pti_contest *of) {
    return of->last_buffers > 1 && of->objective->may_be_small;
}

static bool may_be_in_strips(const pti_contest *of) {
    return may_have_families(of) && of->problem->strips.accumulated >= 0;
}

/** The best candidate of a family so far. */
typedef struct champion {
    bool found;
    pti_candidate best;
} champion;

/** Let the best candidate of a problem replace a champion, if it is better; false if none fits. */
static bool challenge(const pti_contest *of, const pti_problem *problem, int n_buffers,
                      champion *held) {
    pti_candidate candidate;
    if (!pti_search(problem, of->objective, n_buffers, &candidate))
        return false;
    if (!held->found || of->objective->is_better(&candidate, &held->best))
        *held = (champion){true, candidate};
    return true;
}

static champion best_plain(const pti_contest *of) {
    champion held = {0};
    bool fits = true;
    for (int n = of->first_buffers; n <= of->last_buffers && fits; n++)
        fits = challenge(of, of->problem, n, &held);
    return held;
}

/** Of superblocks that are cut into strips: few where kernels would be small. */
static champion best_in_strips(const pti_contest *of) {
    champion held = {0};
    pti_problem problem = *of->problem;
    problem.in_strips = true;
    for (int n = PTI_MOST_STRIPS; n > 1 && may_be_in_strips(of); n /= 2) {
        problem.strips.most = n;
        challenge(of, &problem, of->last_buffers, &held);
    }
    return held;
}

/** Whether along an index some pieces stay, and others come and go. */
static bool is_line(const pti_problem *problem, int index) {
    bool stays = false, comes = false;
    for (int a = 0; a < problem->instance->n_operands; a++) {
        stays |= !problem->depends[a][index];
        comes |= problem->depends[a][index];
    }
    return stays && comes;
}

/** Of superblocks in lines, of which neighbours share what stays: that has one place, and what
 * comes and goes may have three. */
static champion best_in_lines(const pti_contest *of) {
    champion held = {0};
    pti_problem problem = *of->problem;
    problem.in_lines = true;
    for (int d = 0; d < problem.instance->n_indices && may_have_families(of); d++) {
        problem.line = d;
        for (int n = of->last_buffers; n <= of->line_buffers && is_line(&problem, d); n++)
            challenge(of, &problem, n, &held);
    }
    return held;
}

int pti_contest_best(const pti_contest *contest, pti_candidate best[PTI_N_FAMILIES]) {
    const champion all[PTI_N_FAMILIES] = {best_plain(contest), best_in_strips(contest),
                                          best_in_lines(contest)};
    const champion *first = NULL;
    int n_best = 0;
    for (int k = 0; k < PTI_N_FAMILIES; k++) {
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

/** Of the candidates that take at most `patience` times as long as the fastest, the one that moves
 * least; false if that is the fastest. */
static bool find_least(const pti_contest *of, double patience, const pti_candidate *fastest,
                       pti_candidate *least) {
    pti_problem relaxed = *of->problem;
    relaxed.in_strips = may_be_in_strips(of);
    relaxed.enough_s = patience * fastest->run_s;
    int n_buffers = relaxed.in_strips || fastest->n_buffers > of->last_buffers ? of->last_buffers
                                                                               : fastest->n_buffers;
    *least = *fastest;
    for (int n = relaxed.in_strips ? PTI_MOST_STRIPS : 2; n > 1; n /= 2) {
        pti_candidate candidate;
        relaxed.strips.most = n;
        if (pti_search(&relaxed, of->objective, n_buffers, &candidate) &&
            candidate.seconds <= relaxed.enough_s &&
            moved_bytes(&candidate) < much_less * moved_bytes(least))
            *least = candidate;
    }
    return moved_bytes(least) < moved_bytes(fastest);
}

/** Whether a candidate brings in little more than any plan must with so much memory, and that is
 * more than each element once. */
static bool is_near_bound(pti_contest *of, const pti_candidate *candidate) {
    pti_bound bound = pti_bound_find(of->problem->instance, of->problem->limit_bytes);
    of->failed = of->failed || bound.failed;
    return bound.kind != PTI_BOUND_COMPULSORY &&
           candidate->upload_bytes <= much_traffic * (double)bound.goal_bytes;
}

/** Whether a candidate moves so much that less is worth some time. */
static bool moves_much(pti_contest *of, const pti_candidate *candidate) {
    pti_bound least = pti_bound_find(of->problem->instance, INT64_MAX);
    of->failed = of->failed || least.failed;
    return moved_bytes(candidate) >
           much_traffic * ((double)least.h2d_bytes + (double)least.d2h_bytes);
}

/** Whether a candidate keeps the link busy for a good part of its time. */
static bool fills_link(const pti_problem *problem, const pti_candidate *candidate) {
    return fmax(candidate->upload_bytes, candidate->download_bytes) /
               problem->link->duplex_bytes_per_s >
           busy_part * candidate->run_s;
}

bool pti_contest_less(pti_contest *contest, const pti_candidate *fastest, pti_candidate *less,
                      double *patience) {
    const pti_problem *problem = contest->problem;
    if (!contest->objective->may_be_small || !moves_much(contest, fastest))
        return false;
    *patience = long_enough;
    if (fills_link(problem, fastest) && find_least(contest, *patience, fastest, less) &&
        is_near_bound(contest, less))
        return true;
    *patience = as_good;
    return find_least(contest, *patience, fastest, less);
}
