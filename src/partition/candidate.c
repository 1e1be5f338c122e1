#include "partition/candidate.h"

#include "access/footprint.h"
#include "partition/estimate.h"
#include "partition/predict.h"

#include <math.h>
#include <string.h>

enum { MAX_PERMUTED = 4 };

/** Traffic that is hidden behind other work counts a little: it is what a busy link feels first. */
static const double traffic_weight = 0.02;

/** What is left of the time of a superblock at an end when it is tapered, and from where on that is
 * worth its sub-kernels. */
static const double tapered_part = 0.25, worth_tapering = 0.9;

/** The estimate of what cannot be done. */
static const double never_s = 1e30;

/** What the host spends on planning and running one more superblock: a price also where it is
 * hidden, for the host has other work. */
static const double host_s = 10e-6;

static bool only_moves(const pti_instance *instance, int d) {
    for (int a = 0; a < instance->n_operands; a++) {
        if (pti_operand_trend(instance, a, d) != PTI_CONSTANT)
            return false;
    }
    return true;
}

pti_problem pti_problem_of(const pti_instance *instance, const polytile_link *link,
                           const int64_t *block, int64_t limit_bytes) {
    pti_problem problem = {.instance = instance,
                           .link = link,
                           .grid = pti_grid_of(&instance->threads, block),
                           .strips = pti_strips_of(instance),
                           .limit_bytes = limit_bytes,
                           .n_accesses = pti_thread_accesses(instance) *
                                         (double)pti_box_count(&instance->threads)};
    for (int d = 0; d < instance->n_indices; d++) {
        problem.only_moves[d] = only_moves(instance, d);
        for (int a = 0; a < instance->n_operands; a++)
            problem.depends[a][d] = pti_operand_depends(instance, a, d);
    }
    for (int a = 0; a < instance->n_operands; a++)
        problem.accumulates[a] = pti_operand_accumulates(instance, a);
    return problem;
}

/** In a serpentine traversal: how many lines along each index are run there, and how many back. */
static void count_lines(const pti_estimate *all, const int *order, double *there, double *back) {
    double outer = 1;
    for (int k = 0; k < all->n_dims; k++) {
        int d = order[k];
        there[d] = ceil(outer / 2);
        back[d] = floor(outer / 2);
        outer *= all->quotient[d];
    }
}

/** The share of all indices but one (or none, if it is negative). */
static double share_without(const pti_piece *of, int n_dims, int index) {
    double share = 1;
    for (int d = 0; d < n_dims; d++)
        share *= d == index ? 1 : of->share[d];
    return share;
}

/** What an order moves each way, in bytes, and with the price of short runs. */
typedef struct moved {
    double upload_bytes;
    double download_bytes;
    double upload_cost_bytes;
    double download_cost_bytes;
    double back_cost_bytes; /* uploaded of pieces that are downloaded as well */
    bool comes_back;        /* there are such */
} moved;

static moved estimate_order(const pti_estimate *all, const int *order) {
    double there[POLYTILE_MAX_DIMS];
    double back[POLYTILE_MAX_DIMS];
    moved sum = {0};
    count_lines(all, order, there, back);
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_piece *of = &all->piece[a];
        double fresh_bytes = of->first_bytes;
        double n_visits = 1;
        double n_pieces = 1;
        for (int d = 0; d < all->n_dims; d++) {
            if (!of->depends[d])
                continue;
            n_pieces *= all->quotient[d];
            double line_bytes = there[d] * of->there_bytes[d] + back[d] * of->back_bytes[d];
            n_visits += (there[d] + back[d]) * (all->quotient[d] - 1);
            fresh_bytes += line_bytes * share_without(of, all->n_dims, d);
        }
        double whole_bytes = n_visits * of->bytes * share_without(of, all->n_dims, -1);
        double upload_bytes = of->returns     ? whole_bytes * (1 - n_pieces / n_visits)
                              : !of->uploads  ? 0
                              : of->downloads ? whole_bytes
                                              : fresh_bytes;
        sum.upload_bytes += upload_bytes;
        sum.upload_cost_bytes += of->run_cost * upload_bytes;
        sum.back_cost_bytes += of->downloads ? of->run_cost * upload_bytes : 0;
        sum.comes_back |= of->downloads && upload_bytes > 0;
        sum.download_bytes += of->downloads ? whole_bytes : 0;
        sum.download_cost_bytes += of->downloads ? of->run_cost * whole_bytes : 0;
    }
    return sum;
}

/** The best order found so far. */
typedef struct best_order {
    int fastest; /* the index that orders must end with; -1: any */
    int order[POLYTILE_MAX_DIMS];
    moved moved;
    bool found;
} best_order;

static void keep_best(const pti_estimate *all, const int *order, best_order *best) {
    if (best->fastest >= 0 && order[all->n_dims - 1] != best->fastest)
        return;
    moved offered = estimate_order(all, order);
    double offered_bytes = offered.upload_bytes + offered.download_bytes;
    if (best->found && offered_bytes >= best->moved.upload_bytes + best->moved.download_bytes)
        return;
    best->found = true;
    best->moved = offered;
    memcpy(best->order, order, sizeof best->order);
}

static void swap(int *a, int *b) {
    int old = *a;
    *a = *b;
    *b = old;
}

static void permute(const pti_estimate *all, int *order, int first, best_order *best) {
    if (first >= all->n_dims - 1) {
        keep_best(all, order, best);
        return;
    }
    for (int k = first; k < all->n_dims; k++) {
        swap(&order[first], &order[k]);
        permute(all, order, first + 1, best);
        swap(&order[first], &order[k]);
    }
}

static void rotate(const pti_estimate *all, int *order, int first, best_order *best) {
    for (int k = first; k < all->n_dims; k++) {
        swap(&order[k], &order[all->n_dims - 1]);
        keep_best(all, order, best);
        swap(&order[k], &order[all->n_dims - 1]);
    }
}

/** The indices that are not split come first, in place; the position of the first one that is
 * split. */
static int order_unsplit_first(const pti_estimate *all, int *order) {
    int n_unsplit = 0;
    int n_split = 0;
    for (int d = 0; d < all->n_dims; d++)
        n_unsplit += all->quotient[d] <= 1;
    int next_unsplit = 0;
    for (int d = 0; d < all->n_dims; d++)
        order[all->quotient[d] > 1 ? n_unsplit + n_split++ : next_unsplit++] = d;
    return n_unsplit;
}

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
        const pti_piece *of = &all->piece[a];
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

/** The sub-kernels of a candidate: its superblocks, or their strips. */
static double n_launches(const pti_problem *problem, const pti_candidate *candidate) {
    return (double)candidate->n_kernels * (problem->in_strips ? problem->strips.most : 1);
}

static streams streams_of(const pti_problem *problem, const pti_estimate *all,
                          const pti_candidate *candidate, const moved *moves) {
    const polytile_link *link = problem->link;
    double n_kernels = n_launches(problem, candidate);
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
        const pti_piece *of = &all->piece[a];
        seconds += of->downloads ? of->run_cost * of->bytes / problem->link->duplex_bytes_per_s : 0;
    }
    return seconds;
}

static double strips_in_seconds(const pti_problem *problem, const pti_estimate *all) {
    double seconds = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_piece *of = &all->piece[a];
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
        const pti_piece *of = &all->piece[a];
        if ((out ? of->downloads : of->uploads) && problem->depends[a][problem->line] != stays)
            seconds += of->run_cost * of->bytes / problem->link->duplex_bytes_per_s;
    }
    return seconds;
}

/** Nothing is computed while what stays along a line makes room for that of the next one, which
 * waits for the last superblock and is waited for by the first; the rest is the busiest stream, or
 * the turns of a place: a piece comes back, is used, goes home, and the next one comes. */
static double seconds_in_lines(const pti_problem *problem, const pti_estimate *all,
                               const pti_candidate *candidate, const moved *moves,
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

/** One superblock: everything in turn. More: the streams beside each other, plus filling and
 * draining. */
static double estimate_seconds(const pti_problem *problem, const pti_estimate *all,
                               pti_candidate *candidate, const moved *moves) {
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

/** The seconds by which candidates are compared. */
static double priced_seconds(const pti_problem *problem, const pti_candidate *candidate,
                             double n_kernels) {
    if (problem->enough_s > 0)
        return fmax(candidate->run_s, problem->enough_s);
    return candidate->run_s + traffic_seconds(problem, candidate) + host_s * n_kernels;
}

/** What pieces that are written move in any order: each goes out at least once, and comes in as
 * often if it is read as well. Of the others, nothing is known without an order. */
static moved least_moved(const pti_estimate *all) {
    moved sum = {0};
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_piece *of = &all->piece[a];
        double n_visits = 1;
        if (!of->downloads)
            continue;
        for (int d = 0; d < all->n_dims; d++)
            n_visits *= of->depends[d] ? all->quotient[d] : 1;
        double bytes = n_visits * of->bytes * share_without(of, all->n_dims, -1);
        bool uploads = of->uploads && !of->returns;
        sum.upload_bytes += uploads ? bytes : 0;
        sum.upload_cost_bytes += uploads ? of->run_cost * bytes : 0;
        sum.download_bytes += bytes;
        sum.download_cost_bytes += of->run_cost * bytes;
    }
    return sum;
}

/** The least seconds of filling and draining, in any order: with everything tapered. */
static double least_ends_seconds(const pti_estimate *all, const polytile_link *link) {
    double seconds = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_piece *of = &all->piece[a];
        double cost = of->run_cost * tapered_part;
        seconds += of->uploads ? cost * of->first_bytes / link->upload_bytes_per_s : 0;
        seconds += of->downloads ? cost * of->bytes / link->download_bytes_per_s : 0;
    }
    return seconds;
}

/** Fill in figures that no estimate can be below: less a little, for rounding. */
static void bound(const pti_problem *problem, const pti_estimate *all, const moved *least,
                  pti_candidate *candidate) {
    const double certain = 1 - 1e-9;
    streams busy = streams_of(problem, all, candidate, least);
    candidate->upload_bytes = certain * least->upload_bytes;
    candidate->download_bytes = certain * least->download_bytes;
    double seconds = fmax(fmax(busy.in_s, busy.out_s), busy.compute_s);
    if (!problem->in_strips)
        seconds = steady_seconds(&busy, candidate->n_buffers, false) +
                  busy.compute_s / (double)candidate->n_kernels +
                  least_ends_seconds(all, problem->link);
    candidate->run_s = certain * seconds;
    candidate->seconds = priced_seconds(problem, candidate, 0);
}

/** In strips, tiles stay while the index along which they are accumulated is run through; in lines,
 * what does not depend on their index. */
static int fastest_of(const pti_problem *problem, const pti_estimate *all) {
    int fastest = problem->in_strips  ? problem->strips.accumulated
                  : problem->in_lines ? problem->line
                                      : -1;
    return fastest >= 0 && all->quotient[fastest] > 1 ? fastest : -1;
}

/** Choose the order and fill in the estimates from pieces described in full. */
static void finish(const pti_problem *problem, const pti_estimate *all, pti_candidate *candidate) {
    int order[POLYTILE_MAX_DIMS] = {0};
    best_order best = {.fastest = fastest_of(problem, all)};
    int first = order_unsplit_first(all, order);
    if (all->n_dims - first <= MAX_PERMUTED)
        permute(all, order, first, &best);
    else
        rotate(all, order, first, &best);
    memcpy(candidate->order, best.order, sizeof candidate->order);
    candidate->upload_bytes = best.moved.upload_bytes;
    candidate->download_bytes = best.moved.download_bytes;
    candidate->run_s = estimate_seconds(problem, all, candidate, &best.moved);
    candidate->seconds = priced_seconds(problem, candidate, n_launches(problem, candidate));
    candidate->n_strips = problem->in_strips ? problem->strips.most : 0;
    candidate->in_lines = problem->in_lines;
    if ((problem->in_strips || problem->in_lines) && best.fastest < 0)
        candidate->seconds = never_s;
}

void pti_candidate_estimate(const pti_problem *problem, pti_candidate *candidate) {
    pti_estimate all;
    candidate->n_kernels = pti_grid_n_superblocks(&problem->grid, candidate->shape);
    pti_estimate_pieces(problem, candidate, &all);
    pti_estimate_lines(problem, candidate, true, &all);
    pti_estimate_lines(problem, candidate, false, &all);
    finish(problem, &all, candidate);
}

bool pti_candidate_improves(const pti_problem *problem, pti_is_better *is_better,
                            const pti_candidate *best, pti_candidate *candidate) {
    pti_estimate all;
    moved least = {0};
    candidate->n_kernels = pti_grid_n_superblocks(&problem->grid, candidate->shape);
    bool has_bound = candidate->n_kernels > 1;
    pti_estimate_pieces(problem, candidate, &all);
    bound(problem, &all, &least, candidate);
    if (has_bound && !is_better(candidate, best))
        return false;
    pti_estimate_lines(problem, candidate, true, &all);
    least = least_moved(&all);
    bound(problem, &all, &least, candidate);
    if (has_bound && !is_better(candidate, best))
        return false;
    pti_estimate_lines(problem, candidate, false, &all);
    finish(problem, &all, candidate);
    return is_better(candidate, best);
}
