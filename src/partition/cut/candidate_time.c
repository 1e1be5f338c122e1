#include "partition/cut/candidate_time.h"

#include "partition/cost/predict.h"

#include <math.h>

/** Traffic that is hidden behind other work counts a little: it is what a busy link feels first. */
static const double traffic_weight = 0.02;

/** What is left of the time of a superblock at an end when it is tapered, and from where on that is
 * worth its sub-kernels. */
static const double tapered_part = 0.25, worth_tapering = 0.9;

/** What the host spends on planning and running one more superblock: a price also where it is
 * hidden, for the host has other work. */
static const double host_s = 10e-6;

/** The bytes that a superblock's kernel goes through: of what is accumulated, or of all else. */
static double superblock_bytes(const pti_problem *problem, const pti_estimate *all,
                               bool accumulated) {
    double bytes = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        if (problem->accumulates[a] == accumulated)
            bytes += all->piece[a].bytes * all->piece[a].n_passes;
    }
    return bytes;
}

/** What all kernels take, without their launches. */
static double kernels_seconds(const pti_problem *problem, const pti_estimate *all,
                              const pti_candidate *candidate, double n_launches) {
    double n_kernels = (double)candidate->n_kernels;
    double touched_bytes = n_kernels * superblock_bytes(problem, all, false);
    double kernel_s = pti_kernel_seconds(problem->link, touched_bytes, problem->n_accesses);
    double accumulated_bytes = n_kernels * superblock_bytes(problem, all, true);
    return kernel_s +
           pti_accumulate_seconds(problem->link, accumulated_bytes, n_launches, kernel_s);
}

/** What nothing hides: the uploads of the first superblock and the downloads of the last one, which
 * are whole pieces; part is how much is left, where both are tapered, of pieces that depend on the
 * fastest index. */
static double ends_seconds(const pti_estimate *all, const int *order, const polytile_link *link,
                           double part) {
    double seconds = 0;
    int fastest = order[all->n_dims - 1];
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_operand_estimate *of = &all->piece[a];
        double cost = of->run_cost * (of->depends[fastest] ? part : 1);
        seconds += of->uploads ? cost * of->first_bytes / link->upload_bytes_per_s : 0;
        seconds += of->downloads ? cost * of->bytes / link->download_bytes_per_s : 0;
    }
    return seconds;
}

/** Small superblocks at the ends help as far as the streams that wait there can catch up with the
 * busiest. */
static double fill_seconds(const pti_estimate *all, pti_candidate *candidate,
                           const polytile_link *link, double slack_s) {
    double even_s = ends_seconds(all, candidate->order, link, 1);
    double tapered_s =
        fmax(ends_seconds(all, candidate->order, link, tapered_part), even_s - slack_s);
    candidate->tapers = tapered_s < worth_tapering * even_s;
    return candidate->tapers ? tapered_s : even_s;
}

/** By how much the busiest of three is busier than the next. */
static double slack_of(double a, double b, double c) {
    double busiest = fmax(a, fmax(b, c)), least = fmin(a, fmin(b, c));
    return busiest - (a + b + c - busiest - least);
}

/** How long each stream is busy. */
typedef struct streams {
    double in_s;
    double out_s;
    double compute_s;
} streams;

double pti_candidate_launches(const pti_problem *problem, const pti_candidate *candidate) {
    return (double)candidate->n_kernels * (problem->in_strips ? problem->strips.most : 1);
}

static streams streams_of(const pti_problem *problem, const pti_estimate *all,
                          const pti_candidate *candidate, const pti_moved *moves) {
    const polytile_link *link = problem->link;
    double n_kernels = pti_candidate_launches(problem, candidate);
    double latency_s = n_kernels * all->n_pieces * link->transfer_latency_s;
    return (streams){.in_s = moves->upload_cost_bytes / link->duplex_bytes_per_s + latency_s,
                     .out_s = moves->download_cost_bytes / link->duplex_bytes_per_s + latency_s,
                     .compute_s =
                         n_kernels * (link->launch_latency_s + (problem->in_strips ? 0 : host_s)) +
                         kernels_seconds(problem, all, candidate, n_kernels)};
}

/**
 * One buffer: uploads and kernels in turn, downloads beside them. More: the slowest of three
 * streams, or of the turns that a buffer takes (a piece is uploaded and used, or used and
 * downloaded, or all three, before the next one can have its place).
 */
static double steady_seconds(const streams *of, int n_buffers, bool comes_back) {
    if (n_buffers == 1)
        return fmax(of->in_s + of->compute_s, of->out_s);
    double turn_s = comes_back ? of->in_s + of->out_s : fmax(of->in_s, of->out_s);
    return fmax(fmax(of->in_s, of->out_s),
                fmax(of->compute_s, (turn_s + of->compute_s) / n_buffers));
}

/** The seconds of a tile's way out, or of filling the pipeline with a panel's first strip. */
static double strips_out_seconds(const pti_problem *problem, const pti_estimate *all) {
    double seconds = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_operand_estimate *of = &all->piece[a];
        seconds += of->downloads ? of->run_cost * of->bytes / problem->link->duplex_bytes_per_s : 0;
    }
    return seconds;
}

static double strips_in_seconds(const pti_problem *problem, const pti_estimate *all) {
    double seconds = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_operand_estimate *of = &all->piece[a];
        double part = of->depends[problem->strips.cut] ? 1.0 / problem->strips.most : 1;
        seconds +=
            of->uploads ? part * of->run_cost * of->bytes / problem->link->duplex_bytes_per_s : 0;
    }
    return seconds;
}

/** The busiest stream; at each change of tiles what the panels before and after it do not hide of
 * the tile's way out, and at the ends a strip of a thin panel in, and one of a tile out. */
static double seconds_in_strips(const pti_problem *problem, const pti_estimate *all,
                                const pti_candidate *candidate, const streams *busy) {
    double n_panels = (double)candidate->n_kernels;
    double n_tiles = n_panels / all->quotient[problem->strips.accumulated];
    double panel_s = fmax(busy->compute_s, busy->in_s) / n_panels;
    double out_s = strips_out_seconds(problem, all);
    double strip_s = (busy->compute_s / n_panels + out_s) / problem->strips.most;
    double change_s = fmax(0, out_s + strip_s - 2 * panel_s);
    return fmax(fmax(busy->in_s, busy->out_s), busy->compute_s) + (n_tiles - 1) * change_s +
           strip_s + strips_in_seconds(problem, all) / problem->strips.most;
}

/** The seconds of bringing one superblock's pieces in, or out: of those that depend on the index of
 * a line, or of those that stay. */
static double line_seconds(const pti_problem *problem, const pti_estimate *all, bool out,
                           bool stays) {
    double seconds = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_operand_estimate *of = &all->piece[a];
        if ((out ? of->downloads : of->uploads) && problem->depends[a][problem->line] != stays)
            seconds += of->run_cost * of->bytes / problem->link->duplex_bytes_per_s;
    }
    return seconds;
}

/** Nothing is computed while what stays along a line makes room for that of the next one, which
 * waits for the last superblock and is waited for by the first; the rest is the busiest stream, or
 * the turns of a place: a piece comes back, is used, goes home, and the next one comes. */
static double seconds_in_lines(const pti_problem *problem, const pti_estimate *all,
                               const pti_candidate *candidate, const pti_moved *moves,
                               const streams *busy) {
    double n_lines = (double)candidate->n_kernels / all->quotient[problem->line];
    double stays_in_s = line_seconds(problem, all, false, true);
    double stays_out_s = line_seconds(problem, all, true, true);
    double ends_s =
        line_seconds(problem, all, false, false) + line_seconds(problem, all, true, false);
    double kernel_s = busy->compute_s / (double)candidate->n_kernels;
    double in_s = fmax(0, busy->in_s - n_lines * stays_in_s);
    double back_s = moves->back_cost_bytes / problem->link->duplex_bytes_per_s;
    double turns_s = (back_s + busy->out_s + busy->compute_s) / candidate->n_buffers;
    return fmax(fmax(in_s, busy->out_s), fmax(turns_s, busy->compute_s)) +
           n_lines * (stays_in_s + stays_out_s + kernel_s) + ends_s;
}

double pti_candidate_seconds(const pti_problem *problem, const pti_estimate *all,
                             pti_candidate *candidate, const pti_moved *moves) {
    const polytile_link *link = problem->link;
    double n_kernels = (double)candidate->n_kernels;
    streams busy = streams_of(problem, all, candidate, moves);
    if (candidate->n_kernels <= 1)
        return moves->upload_cost_bytes / link->upload_bytes_per_s +
               moves->download_cost_bytes / link->download_bytes_per_s +
               n_kernels * all->n_pieces * link->transfer_latency_s + busy.compute_s;
    if (problem->in_strips)
        return seconds_in_strips(problem, all, candidate, &busy);
    if (problem->in_lines)
        return seconds_in_lines(problem, all, candidate, moves, &busy);
    double slack_s = slack_of(busy.in_s, busy.out_s, busy.compute_s);
    double fill_s = busy.compute_s / n_kernels + fill_seconds(all, candidate, link, slack_s);
    return steady_seconds(&busy, candidate->n_buffers, moves->comes_back) + fill_s;
}

static double traffic_seconds(const pti_problem *problem, const pti_candidate *candidate) {
    return traffic_weight * (candidate->upload_bytes + candidate->download_bytes) /
           problem->link->duplex_bytes_per_s;
}

double pti_candidate_priced(const pti_problem *problem, const pti_candidate *candidate,
                            double n_kernels) {
    if (problem->enough_s > 0)
        return fmax(candidate->run_s, problem->enough_s);
    return candidate->run_s + traffic_seconds(problem, candidate) + host_s * n_kernels;
}

/** The least seconds of filling and draining, in any order: with everything tapered. */
static double least_ends_seconds(const pti_estimate *all, const polytile_link *link) {
    double seconds = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_operand_estimate *of = &all->piece[a];
        double cost = of->run_cost * tapered_part;
        seconds += of->uploads ? cost * of->first_bytes / link->upload_bytes_per_s : 0;
        seconds += of->downloads ? cost * of->bytes / link->download_bytes_per_s : 0;
    }
    return seconds;
}

double pti_candidate_least_seconds(const pti_problem *problem, const pti_estimate *all,
                                   const pti_candidate *candidate, const pti_moved *least) {
    streams busy = streams_of(problem, all, candidate, least);
    if (problem->in_strips)
        return fmax(fmax(busy.in_s, busy.out_s), busy.compute_s);
    return steady_seconds(&busy, candidate->n_buffers, false) +
           busy.compute_s / (double)candidate->n_kernels + least_ends_seconds(all, problem->link);
}
