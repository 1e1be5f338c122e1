#include "partition/candidate.h"

#include "access/footprint.h"
#include "base/checked.h"
#include "partition/predict.h"

#include <math.h>
#include <string.h>

enum { MAX_PERMUTED = 4 };

/** Traffic that is hidden behind other work counts a little: it is what a busy link feels first. */
static const double traffic_weight = 0.02;

/** What is left of the time of a superblock at an end when it is tapered, and from where on that is
 * worth its sub-kernels. */
static const double tapered_part = 0.25, worth_tapering = 0.9;

/** What the host spends on planning and running one more superblock: a price also where it is hidden,
 * for the host has other work. */
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
                           .limit_bytes = limit_bytes,
                           .n_accesses = pti_thread_accesses(instance) *
                                         (double)pti_box_count(&instance->threads)};
    for (int d = 0; d < instance->n_indices; d++) {
        problem.only_moves[d] = only_moves(instance, d);
        for (int a = 0; a < instance->n_operands; a++)
            problem.depends[a][d] = pti_operand_depends(instance, a, d);
    }
    return problem;
}

/** What one operand moves for a shape, in bytes; doubles, since only comparisons follow. */
typedef struct piece {
    double bytes;       /* of a middle superblock */
    double first_bytes; /* of the first superblock */
    double run_cost;    /* by which its runs make transfers dearer, at least 1 */
    /* For each index: what the steps of a line along it do not share with the superblock before,
     * there and back; and how large an average piece along it is, as a part of a middle one. */
    double there_bytes[POLYTILE_MAX_DIMS];
    double back_bytes[POLYTILE_MAX_DIMS];
    double share[POLYTILE_MAX_DIMS];
    bool depends[POLYTILE_MAX_DIMS];
    int n_passes; /* of a kernel through it */
    bool uploads;
    bool downloads;
    bool returns; /* starts from the identity, and is uploaded from the second visit on */
} piece;

typedef struct estimate {
    int n_dims;
    int n_pieces;
    int64_t n_parts[POLYTILE_MAX_DIMS]; /* superblocks along each index */
    double quotient[POLYTILE_MAX_DIMS]; /* the same */
    polytile_domain middle;             /* threads of the superblock in the middle */
    piece piece[PTI_MAX_OPERANDS];
} estimate;

/** The most positions along an index that are looked at. */
enum { MAX_SEEN = 6 };

/** The pieces of one operand for superblocks along one index, in the middle of the others; each is
 * found once. */
typedef struct line {
    const pti_problem *problem;
    int64_t shape; /* blocks of a superblock along the index */
    int operand;
    int index;
    polytile_domain threads;
    int n_seen;
    int64_t at[MAX_SEEN];
    polytile_domain hull[MAX_SEEN];
} line;

static const polytile_domain *piece_at(line *along, int64_t at) {
    int k = 0;
    while (k < along->n_seen && along->at[k] != at)
        k++;
    if (k == along->n_seen) {
        along->threads.range[along->index] =
            pti_grid_range(&along->problem->grid, along->shape, at, along->index);
        along->at[k] = at;
        pti_footprint_find_hull(along->problem->instance, along->operand, PTI_TOUCHES,
                                &along->threads, &along->hull[k]);
        along->n_seen++;
    }
    return &along->hull[k];
}

/** Whether what two pieces share can move from one to the other's place within one buffer: they are
 * laid out alike, and the shift is larger than what moves. */
static bool moves_apart(const polytile_domain *before, const polytile_domain *after,
                        const polytile_domain *common) {
    bool apart = false;
    for (int d = 0; d < common->n_dims; d++) {
        int64_t shift = pti_abs(after->range[d].lo - before->range[d].lo);
        apart |= shift > common->range[d].hi - common->range[d].lo;
        if (d > 0 && pti_range_count(before->range[d]) != pti_range_count(after->range[d]))
            return false;
    }
    return apart || pti_box_equals(before, after);
}

/** The elements of a piece that do not come from the piece before. */
static double not_shared(const polytile_domain *before, const polytile_domain *after,
                         int n_buffers) {
    polytile_domain common;
    bool shares = pti_box_intersect(before, after, &common) &&
                  (n_buffers > 1 || moves_apart(before, after, &common));
    return (double)pti_box_count(after) - (shares ? (double)pti_box_count(&common) : 0);
}

/** Along one index: the first and the last superblock are looked at, those between are alike. */
static void describe_index(const pti_problem *problem, const pti_candidate *candidate, int operand,
                           int d, const estimate *all, piece *made) {
    int n_buffers = candidate->n_buffers;
    int64_t quotient = all->n_parts[d];
    double element_bytes = (double)problem->instance->operand[operand].element_bytes;
    line along;
    along.problem = problem;
    along.shape = candidate->shape[d];
    along.operand = operand;
    along.index = d;
    along.threads = all->middle;
    along.n_seen = 0;
    const polytile_domain *first = piece_at(&along, 0);
    const polytile_domain *last = piece_at(&along, quotient - 1);
    double n_between = (double)quotient - 2;
    double between = 0;
    double elements = (double)pti_box_count(first);
    if (quotient > 2) {
        const polytile_domain *middle = piece_at(&along, quotient / 2);
        between = n_between * not_shared(piece_at(&along, quotient / 2 - 1), middle, n_buffers);
        elements += n_between * (double)pti_box_count(middle);
    }
    elements += (double)pti_box_count(last);
    made->there_bytes[d] =
        element_bytes * (between + not_shared(piece_at(&along, quotient - 2), last, n_buffers));
    made->back_bytes[d] =
        element_bytes * (between + not_shared(piece_at(&along, 1), first, n_buffers));
    if (made->bytes > 0)
        made->share[d] = element_bytes * elements / ((double)quotient * made->bytes);
}

/** A piece by itself, of a middle superblock and of the first one. */
static void describe_piece(const pti_problem *problem, int operand, const polytile_domain *origin,
                           estimate *all) {
    const pti_operand *of = &problem->instance->operand[operand];
    polytile_domain first, middle;
    pti_footprint_find_hull(problem->instance, operand, PTI_TOUCHES, origin, &first);
    pti_footprint_find_hull(problem->instance, operand, PTI_TOUCHES, &all->middle, &middle);
    piece *made = &all->piece[operand];
    made->bytes = (double)pti_box_count(&middle) * (double)of->element_bytes;
    made->first_bytes = (double)pti_box_count(&first) * (double)of->element_bytes;
    made->run_cost =
        pti_run_cost(problem->link, pti_runs_of(&of->domain, &middle, of->element_bytes));
    made->n_passes = pti_operand_passes(of);
    made->uploads = of->reads;
    made->downloads = of->writes;
    made->returns = of->fresh;
    for (int d = 0; d < all->n_dims; d++)
        made->depends[d] = all->n_parts[d] > 1 && problem->depends[operand][d];
}

static void describe_pieces(const pti_problem *problem, const pti_candidate *candidate,
                            estimate *all) {
    polytile_domain origin;
    all->n_dims = problem->instance->n_indices;
    all->n_pieces = problem->instance->n_operands;
    all->middle.n_dims = origin.n_dims = all->n_dims;
    for (int d = 0; d < all->n_dims; d++) {
        int64_t shape = candidate->shape[d];
        all->n_parts[d] = pti_grid_quotient(&problem->grid, candidate->shape, d);
        all->quotient[d] = (double)all->n_parts[d];
        origin.range[d] = pti_grid_range(&problem->grid, shape, 0, d);
        all->middle.range[d] = pti_grid_range(&problem->grid, shape, (all->n_parts[d] - 1) / 2, d);
    }
    for (int a = 0; a < all->n_pieces; a++)
        describe_piece(problem, a, &origin, all);
}

/** The lines of all pieces that are written, or of all others. */
static void describe_lines(const pti_problem *problem, const pti_candidate *candidate, bool written,
                           estimate *all) {
    for (int a = 0; a < all->n_pieces; a++) {
        piece *made = &all->piece[a];
        for (int d = 0; d < all->n_dims && made->downloads == written; d++) {
            made->share[d] = 1;
            if (made->depends[d])
                describe_index(problem, candidate, a, d, all, made);
        }
    }
}

/** In a serpentine traversal: how many lines along each index are run there, and how many back. */
static void count_lines(const estimate *all, const int *order, double *there, double *back) {
    double outer = 1;
    for (int k = 0; k < all->n_dims; k++) {
        int d = order[k];
        there[d] = ceil(outer / 2);
        back[d] = floor(outer / 2);
        outer *= all->quotient[d];
    }
}

/** The share of all indices but one (or none, if it is negative). */
static double share_without(const piece *of, int n_dims, int index) {
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
    bool comes_back; /* pieces that are downloaded were or will be uploaded */
} moved;

static moved estimate_order(const estimate *all, const int *order) {
    double there[POLYTILE_MAX_DIMS];
    double back[POLYTILE_MAX_DIMS];
    moved sum = {0};
    count_lines(all, order, there, back);
    for (int a = 0; a < all->n_pieces; a++) {
        const piece *of = &all->piece[a];
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
        sum.comes_back |= of->downloads && upload_bytes > 0;
        sum.download_bytes += of->downloads ? whole_bytes : 0;
        sum.download_cost_bytes += of->downloads ? of->run_cost * whole_bytes : 0;
    }
    return sum;
}

/** The best order found so far. */
typedef struct best_order {
    int order[POLYTILE_MAX_DIMS];
    moved moved;
    bool found;
} best_order;

static void keep_best(const estimate *all, const int *order, best_order *best) {
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

static void permute(const estimate *all, int *order, int first, best_order *best) {
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

static void rotate(const estimate *all, int *order, int first, best_order *best) {
    for (int k = first; k < all->n_dims; k++) {
        swap(&order[k], &order[all->n_dims - 1]);
        keep_best(all, order, best);
        swap(&order[k], &order[all->n_dims - 1]);
    }
}

/** The indices that are not split come first, in place; the position of the first one that is
 * split. */
static int order_unsplit_first(const estimate *all, int *order) {
    int n_unsplit = 0;
    int n_split = 0;
    for (int d = 0; d < all->n_dims; d++)
        n_unsplit += all->quotient[d] <= 1;
    int next_unsplit = 0;
    for (int d = 0; d < all->n_dims; d++)
        order[all->quotient[d] > 1 ? n_unsplit + n_split++ : next_unsplit++] = d;
    return n_unsplit;
}

/** What one superblock's kernel goes through. */
static double superblock_bytes(const estimate *all) {
    double bytes = 0;
    for (int a = 0; a < all->n_pieces; a++)
        bytes += all->piece[a].bytes * all->piece[a].n_passes;
    return bytes;
}

/** What nothing hides: the uploads of the first superblock and the downloads of the last one, which
 * are whole pieces; part is how much is left, where both are tapered, of pieces that depend on the
 * fastest index. */
static double ends_seconds(const estimate *all, const int *order, const polytile_link *link,
                           double part) {
    double seconds = 0;
    int fastest = order[all->n_dims - 1];
    for (int a = 0; a < all->n_pieces; a++) {
        const piece *of = &all->piece[a];
        double cost = of->run_cost * (of->depends[fastest] ? part : 1);
        seconds += of->uploads ? cost * of->first_bytes / link->upload_bytes_per_s : 0;
        seconds += of->downloads ? cost * of->bytes / link->download_bytes_per_s : 0;
    }
    return seconds;
}

/** Small superblocks at the ends help as far as the streams that wait there can catch up with the
 * busiest. */
static double fill_seconds(const estimate *all, pti_candidate *candidate, const polytile_link *link,
                           double slack_s) {
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

static streams streams_of(const pti_problem *problem, const estimate *all,
                          const pti_candidate *candidate, const moved *moves) {
    const polytile_link *link = problem->link;
    double n_kernels = (double)candidate->n_kernels;
    double latency_s = n_kernels * all->n_pieces * link->transfer_latency_s;
    return (streams){.in_s = moves->upload_cost_bytes / link->duplex_bytes_per_s + latency_s,
                     .out_s = moves->download_cost_bytes / link->duplex_bytes_per_s + latency_s,
                     .compute_s = n_kernels * (link->launch_latency_s + host_s) +
                                  pti_kernel_seconds(link, n_kernels * superblock_bytes(all),
                                                     problem->n_accesses)};
}

/**
 * One buffer: uploads and kernels in turn, downloads beside them. More: the slowest of three streams,
 * or of the turns that a buffer takes (a piece is uploaded and used, or used and downloaded, or all
 * three, before the next one can have its place).
 */
static double steady_seconds(const streams *of, int n_buffers, bool comes_back) {
    if (n_buffers == 1)
        return fmax(of->in_s + of->compute_s, of->out_s);
    double turn_s = comes_back ? of->in_s + of->out_s : fmax(of->in_s, of->out_s);
    return fmax(fmax(of->in_s, of->out_s),
                fmax(of->compute_s, (turn_s + of->compute_s) / n_buffers));
}

/** One superblock: everything in turn. More: the streams beside each other, plus filling and
 * draining. */
static double estimate_seconds(const pti_problem *problem, const estimate *all,
                               pti_candidate *candidate, const moved *moves) {
    const polytile_link *link = problem->link;
    double n_kernels = (double)candidate->n_kernels;
    streams busy = streams_of(problem, all, candidate, moves);
    if (candidate->n_kernels <= 1)
        return moves->upload_cost_bytes / link->upload_bytes_per_s +
               moves->download_cost_bytes / link->download_bytes_per_s +
               n_kernels * all->n_pieces * link->transfer_latency_s + busy.compute_s;
    double slack_s = slack_of(busy.in_s, busy.out_s, busy.compute_s);
    double fill_s = busy.compute_s / n_kernels + fill_seconds(all, candidate, link, slack_s);
    return steady_seconds(&busy, candidate->n_buffers, moves->comes_back) + fill_s;
}

static double traffic_seconds(const pti_problem *problem, const pti_candidate *candidate) {
    return traffic_weight * (candidate->upload_bytes + candidate->download_bytes) /
           problem->link->duplex_bytes_per_s;
}

/** What pieces that are written move in any order: each goes out at least once, and comes in as
 * often if it is read as well. Of the others, nothing is known without an order. */
static moved least_moved(const estimate *all) {
    moved sum = {0};
    for (int a = 0; a < all->n_pieces; a++) {
        const piece *of = &all->piece[a];
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
static double least_ends_seconds(const estimate *all, const polytile_link *link) {
    double seconds = 0;
    for (int a = 0; a < all->n_pieces; a++) {
        const piece *of = &all->piece[a];
        double cost = of->run_cost * tapered_part;
        seconds += of->uploads ? cost * of->first_bytes / link->upload_bytes_per_s : 0;
        seconds += of->downloads ? cost * of->bytes / link->download_bytes_per_s : 0;
    }
    return seconds;
}

/** Fill in figures that no estimate can be below: less a little, for rounding. */
static void bound(const pti_problem *problem, const estimate *all, const moved *least,
                  pti_candidate *candidate) {
    const double certain = 1 - 1e-9;
    streams busy = streams_of(problem, all, candidate, least);
    candidate->upload_bytes = certain * least->upload_bytes;
    candidate->download_bytes = certain * least->download_bytes;
    double seconds = steady_seconds(&busy, candidate->n_buffers, false) +
                     busy.compute_s / (double)candidate->n_kernels +
                     least_ends_seconds(all, problem->link);
    candidate->seconds = certain * seconds + traffic_seconds(problem, candidate);
}

/** Choose the order and fill in the estimates from pieces described in full. */
static void finish(const pti_problem *problem, const estimate *all, pti_candidate *candidate) {
    int order[POLYTILE_MAX_DIMS] = {0};
    best_order best = {0};
    int first = order_unsplit_first(all, order);
    if (all->n_dims - first <= MAX_PERMUTED)
        permute(all, order, first, &best);
    else
        rotate(all, order, first, &best);
    memcpy(candidate->order, best.order, sizeof candidate->order);
    candidate->upload_bytes = best.moved.upload_bytes;
    candidate->download_bytes = best.moved.download_bytes;
    candidate->seconds = estimate_seconds(problem, all, candidate, &best.moved) +
                         traffic_seconds(problem, candidate) +
                         host_s * (double)candidate->n_kernels;
}

void pti_candidate_estimate(const pti_problem *problem, pti_candidate *candidate) {
    estimate all;
    candidate->n_kernels = pti_grid_n_superblocks(&problem->grid, candidate->shape);
    describe_pieces(problem, candidate, &all);
    describe_lines(problem, candidate, true, &all);
    describe_lines(problem, candidate, false, &all);
    finish(problem, &all, candidate);
}

bool pti_candidate_improves(const pti_problem *problem, pti_is_better *is_better,
                            const pti_candidate *best, pti_candidate *candidate) {
    estimate all;
    moved least = {0};
    candidate->n_kernels = pti_grid_n_superblocks(&problem->grid, candidate->shape);
    bool has_bound = candidate->n_kernels > 1;
    describe_pieces(problem, candidate, &all);
    bound(problem, &all, &least, candidate);
    if (has_bound && !is_better(candidate, best))
        return false;
    describe_lines(problem, candidate, true, &all);
    least = least_moved(&all);
    bound(problem, &all, &least, candidate);
    if (has_bound && !is_better(candidate, best))
        return false;
    describe_lines(problem, candidate, false, &all);
    finish(problem, &all, candidate);
    return is_better(candidate, best);
}
