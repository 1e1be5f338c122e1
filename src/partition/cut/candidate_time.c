#include "partition/cut/candidate_time.h"

#include "partition/cost/predict.h"
#include "partition/cut/family.h"

#include <math.h>

/** Traffic that is hidden behind other work counts a little: it is what a busy link feels first. */
static const double traffic_weight = 0.02;

const double pti_superblock_host_s = 10e-6;

/** Return the bytes that a superblock's kernel goes through: of what is accumulated, or of all
 * else. */
static double superblock_bytes(const pti_problem *problem, const pti_estimate *all,
                               bool accumulated) {
    double bytes = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        if (problem->accumulates[a] == accumulated)
            bytes += all->piece[a].bytes * all->piece[a].n_passes;
    }
    return bytes;
}

/** Return what all kernels take, without their launches. They are taken to have as many threads
 * each. */
static double kernels_seconds(const pti_problem *problem, const pti_estimate *all,
                              const pti_candidate *candidate, double n_launches) {
    double n_kernels = (double)candidate->n_kernels;
    double touched_bytes = n_kernels * superblock_bytes(problem, all, false);
    double kernel_s = pti_unfilled_times(problem->fill_threads, problem->n_threads / n_launches) *
                      pti_kernel_seconds(problem->link, touched_bytes, problem->n_accesses);
    double accumulated_bytes = n_kernels * superblock_bytes(problem, all, true);
    return kernel_s +
           pti_accumulate_seconds(problem->link, accumulated_bytes, n_launches, kernel_s);
}

double pti_candidate_launches(const pti_candidate *candidate) {
    return (double)candidate->n_kernels * candidate->variant.n_strips;
}

/** The host gets strips ready while others of their superblock run. */
static pti_timing timing_of(const pti_problem *problem, const pti_estimate *all,
                            const pti_candidate *candidate, const pti_moved *moves) {
    const polytile_link *link = problem->link;
    double n_kernels = pti_candidate_launches(candidate);
    double latency_s = n_kernels * all->n_pieces * link->transfer_latency_s;
    double launch_s =
        link->launch_latency_s + (candidate->variant.n_strips > 1 ? 0 : pti_superblock_host_s);
    return (pti_timing){.problem = problem,
                        .all = all,
                        .moves = moves,
                        .in_s = moves->upload_cost_bytes / link->duplex_bytes_per_s + latency_s,
                        .out_s = moves->download_cost_bytes / link->duplex_bytes_per_s + latency_s,
                        .compute_s = n_kernels * launch_s +
                                     kernels_seconds(problem, all, candidate, n_kernels)};
}

double pti_piece_seconds(const pti_timing *timing, int operand, bool out) {
    const pti_operand_estimate *piece = &timing->all->piece[operand];
    bool moves = out ? piece->downloads : piece->uploads;
    return moves ? piece->run_cost * piece->bytes / timing->problem->link->duplex_bytes_per_s : 0;
}

double pti_candidate_seconds(const pti_problem *problem, const pti_estimate *all,
                             pti_candidate *candidate, const pti_moved *moves) {
    const polytile_link *link = problem->link;
    pti_timing timing = timing_of(problem, all, candidate, moves);
    if (candidate->n_kernels > 1)
        return candidate->variant.family->seconds(&timing, candidate);
    return moves->upload_cost_bytes / link->upload_bytes_per_s +
           moves->download_cost_bytes / link->download_bytes_per_s +
           (double)candidate->n_kernels * all->n_pieces * link->transfer_latency_s +
           timing.compute_s;
}

double pti_candidate_least_seconds(const pti_problem *problem, const pti_estimate *all,
                                   const pti_candidate *candidate, const pti_moved *least) {
    pti_timing timing = timing_of(problem, all, candidate, least);
    return candidate->variant.family->least_seconds(&timing, candidate);
}

static double traffic_seconds(const pti_problem *problem, const pti_candidate *candidate) {
    return traffic_weight * (candidate->upload_bytes + candidate->download_bytes) /
           problem->link->duplex_bytes_per_s;
}

double pti_candidate_priced(const pti_problem *problem, const pti_candidate *candidate,
                            double n_kernels) {
    if (problem->enough_s > 0)
        return fmax(candidate->run_s, problem->enough_s);
    return candidate->run_s + traffic_seconds(problem, candidate) +
           pti_superblock_host_s * n_kernels;
}
