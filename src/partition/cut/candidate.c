#include "partition/cut/candidate.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/cost/predict.h"
#include "partition/cut/candidate_time.h"

#include <math.h>
#include <string.h>

enum { MAX_PERMUTED = 4 };

/** The estimate of what cannot be done. */
static const double never_s = 1e30;

static bool only_moves(const pti_instance *instance, int d) {
    for (int a = 0; a < instance->n_operands; a++) {
        if (pti_operand_trend(instance, a, d) != PTI_CONSTANT)
            return false;
    }
    return true;
}

/** Return the first or the last block along each index, where pieces of an operand are largest. */
static polytile_domain find_largest_block(const pti_instance *instance, const pti_grid *grid,
                                          int operand) {
    int64_t first[POLYTILE_MAX_DIMS];
    for (int d = 0; d < instance->n_indices; d++) {
        bool falls = pti_operand_trend(instance, operand, d) == PTI_FALLING;
        first[d] = falls ? 0 : grid->n_blocks[d] - 1;
    }
    return pti_grid_box(grid, first, pti_one_block);
}

/** Return whether pieces of an operand grow up to one that contains all others. */
static bool has_largest(const pti_instance *instance, const pti_grid *grid, int operand) {
    polytile_domain block = find_largest_block(instance, grid, operand), largest, all;
    bool varies = false;
    for (int d = 0; d < instance->n_indices; d++)
        varies |= pti_operand_trend(instance, operand, d) != PTI_CONSTANT;
    return varies && pti_footprint_find_hull(instance, operand, PTI_TOUCHES, &block, &largest) &&
           pti_footprint_find_hull(instance, operand, PTI_TOUCHES, &instance->threads, &all) &&
           pti_box_equals(&largest, &all);
}

pti_variant pti_variant_of(const pti_family *family, int n_buffers) {
    return (pti_variant){.family = family, .n_buffers = n_buffers, .along = -1, .n_strips = 1};
}

int64_t pti_strip_blocks(const pti_variant *variant, const int64_t *shape) {
    return pti_ceil_div(shape[variant->cut], variant->n_strips);
}

pti_problem pti_problem_of(const pti_instance *instance, const polytile_link *link,
                           const int64_t *block, int64_t limit_bytes) {
    pti_problem problem = {.instance = instance,
                           .link = link,
                           .grid = pti_grid_of(&instance->threads, block),
                           .limit_bytes = limit_bytes,
                           .n_threads = (double)pti_box_count(&instance->threads)};
    problem.n_accesses = pti_thread_accesses(instance) * problem.n_threads;
    for (int d = 0; d < instance->n_indices; d++) {
        problem.only_moves[d] = only_moves(instance, d);
        for (int a = 0; a < instance->n_operands; a++)
            problem.depends[a][d] = pti_operand_depends(instance, a, d);
    }
    for (int a = 0; a < instance->n_operands; a++)
        problem.accumulates[a] = pti_operand_accumulates(instance, a);
    for (int a = 0; a < instance->n_operands; a++)
        problem.has_largest[a] = has_largest(instance, &problem.grid, a);
    return problem;
}

/** Count how many lines along each index a serpentine traversal runs there, and how many back. */
static void count_lines(const pti_estimate *all, const int *order, double *there, double *back) {
    double outer = 1;
    for (int k = 0; k < all->n_dims; k++) {
        int d = order[k];
        there[d] = ceil(outer / 2);
        back[d] = floor(outer / 2);
        outer *= all->quotient[d];
    }
}

/** Return the share of all indices but one (or none, if it is negative). */
static double share_without(const pti_operand_estimate *estimate, int n_dims, int index) {
    double share = 1;
    for (int d = 0; d < n_dims; d++)
        share *= d == index ? 1 : estimate->share[d];
    return share;
}

/** Estimate what an order moves: each piece once, and again on each visit, less what it shares with
 * the piece before. */
static pti_moved estimate_order(const pti_estimate *all, const int *order) {
    double there[POLYTILE_MAX_DIMS];
    double back[POLYTILE_MAX_DIMS];
    pti_moved sum = {0};
    count_lines(all, order, there, back);
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_operand_estimate *estimate = &all->piece[a];
        double fresh_bytes = estimate->first_bytes;
        double n_visits = 1;
        double n_pieces = 1;
        for (int d = 0; d < all->n_dims; d++) {
            if (!estimate->depends[d])
                continue;
            n_pieces *= all->quotient[d];
            double line_bytes =
                there[d] * estimate->there_bytes[d] + back[d] * estimate->back_bytes[d];
            n_visits += (there[d] + back[d]) * (all->quotient[d] - 1);
            fresh_bytes += line_bytes * share_without(estimate, all->n_dims, d);
        }
        double whole_bytes = n_visits * estimate->bytes * share_without(estimate, all->n_dims, -1);
        double upload_bytes = estimate->returns     ? whole_bytes * (1 - n_pieces / n_visits)
                              : !estimate->uploads  ? 0
                              : estimate->downloads ? whole_bytes
                                                    : fresh_bytes;
        sum.upload_bytes += upload_bytes;
        sum.upload_cost_bytes += estimate->run_cost * upload_bytes;
        sum.back_cost_bytes += estimate->downloads ? estimate->run_cost * upload_bytes : 0;
        sum.comes_back |= estimate->downloads && upload_bytes > 0;
        sum.download_bytes += estimate->downloads ? whole_bytes : 0;
        sum.download_cost_bytes += estimate->downloads ? estimate->run_cost * whole_bytes : 0;
    }
    return sum;
}

/** The best order found so far. */
typedef struct best_order {
    int fastest; /* the index that orders must end with; -1: any */
    int order[POLYTILE_MAX_DIMS];
    pti_moved moved;
    bool found;
} best_order;

static void keep_best(const pti_estimate *all, const int *order, best_order *best) {
    if (best->fastest >= 0 && order[all->n_dims - 1] != best->fastest)
        return;
    pti_moved offered = estimate_order(all, order);
    double offered_bytes = offered.upload_bytes + offered.download_bytes;
    if (best->found && offered_bytes >= best->moved.upload_bytes + best->moved.download_bytes)
        return;
    best->found = true;
    best->moved = offered;
    memcpy(best->order, order, sizeof best->order);
}

static void swap_indices(int *a, int *b) {
    int old = *a;
    *a = *b;
    *b = old;
}

static void permute_order(const pti_estimate *all, int *order, int first, best_order *best) {
    if (first >= all->n_dims - 1) {
        keep_best(all, order, best);
        return;
    }
    for (int k = first; k < all->n_dims; k++) {
        swap_indices(&order[first], &order[k]);
        permute_order(all, order, first + 1, best);
        swap_indices(&order[first], &order[k]);
    }
}

static void rotate_order(const pti_estimate *all, int *order, int first, best_order *best) {
    for (int k = first; k < all->n_dims; k++) {
        swap_indices(&order[k], &order[all->n_dims - 1]);
        keep_best(all, order, best);
        swap_indices(&order[k], &order[all->n_dims - 1]);
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

/** Return what pieces that are written move in any order: each goes out at least once, and comes in
 * as often if it is read as well. Of the others, nothing is known without an order. */
static pti_moved least_moved(const pti_estimate *all) {
    pti_moved sum = {0};
    for (int a = 0; a < all->n_pieces; a++) {
        const pti_operand_estimate *estimate = &all->piece[a];
        double n_visits = 1;
        if (!estimate->downloads)
            continue;
        for (int d = 0; d < all->n_dims; d++)
            n_visits *= estimate->depends[d] ? all->quotient[d] : 1;
        double bytes = n_visits * estimate->bytes * share_without(estimate, all->n_dims, -1);
        bool uploads = estimate->uploads && !estimate->returns;
        sum.upload_bytes += uploads ? bytes : 0;
        sum.upload_cost_bytes += uploads ? estimate->run_cost * bytes : 0;
        sum.download_bytes += bytes;
        sum.download_cost_bytes += estimate->run_cost * bytes;
    }
    return sum;
}

/** Fill in figures that no estimate can be below: less a little, for rounding. */
static void bound_figures(const pti_problem *problem, const pti_estimate *all,
                          const pti_moved *least, pti_candidate *candidate) {
    const double certain = 1 - 1e-9;
    candidate->upload_bytes = certain * least->upload_bytes;
    candidate->download_bytes = certain * least->download_bytes;
    candidate->run_s = certain * pti_candidate_least_seconds(problem, all, candidate, least);
    candidate->seconds = pti_candidate_priced(problem, candidate, 0);
}

/** Return the index that a variant's superblocks must follow each other along, if they are split
 * there; else -1. */
static int fastest_of(const pti_variant *variant, const pti_estimate *all) {
    return variant->along >= 0 && all->quotient[variant->along] > 1 ? variant->along : -1;
}

/** Choose the order and fill in the estimates from pieces described in full. */
static void finish_candidate(const pti_problem *problem, const pti_estimate *all,
                             pti_candidate *candidate) {
    int order[POLYTILE_MAX_DIMS] = {0};
    best_order best = {.fastest = fastest_of(&candidate->variant, all)};
    int first = order_unsplit_first(all, order);
    if (all->n_dims - first <= MAX_PERMUTED)
        permute_order(all, order, first, &best);
    else
        rotate_order(all, order, first, &best);
    memcpy(candidate->order, best.order, sizeof candidate->order);
    candidate->upload_bytes = best.moved.upload_bytes;
    candidate->download_bytes = best.moved.download_bytes;
    candidate->run_s = pti_candidate_seconds(problem, all, candidate, &best.moved);
    candidate->seconds =
        pti_candidate_priced(problem, candidate, pti_candidate_launches(candidate));
    if (candidate->variant.along >= 0 && best.fastest < 0)
        candidate->seconds = never_s;
}

void pti_candidate_estimate(const pti_problem *problem, pti_candidate *candidate) {
    pti_estimate all;
    candidate->n_kernels = pti_grid_n_superblocks(&problem->grid, candidate->shape);
    pti_estimate_pieces(problem, candidate, &all);
    pti_estimate_lines(problem, candidate, true, &all);
    pti_estimate_lines(problem, candidate, false, &all);
    finish_candidate(problem, &all, candidate);
}

bool pti_candidate_improves(const pti_problem *problem, pti_is_better *is_better,
                            const pti_candidate *best, pti_candidate *candidate) {
    pti_estimate all;
    pti_moved least = {0};
    candidate->n_kernels = pti_grid_n_superblocks(&problem->grid, candidate->shape);
    bool has_bound = candidate->n_kernels > 1;
    pti_estimate_pieces(problem, candidate, &all);
    bound_figures(problem, &all, &least, candidate);
    if (has_bound && !is_better(candidate, best))
        return false;
    pti_estimate_lines(problem, candidate, true, &all);
    least = least_moved(&all);
    bound_figures(problem, &all, &least, candidate);
    if (has_bound && !is_better(candidate, best))
        return false;
    pti_estimate_lines(problem, candidate, false, &all);
    finish_candidate(problem, &all, candidate);
    return is_better(candidate, best);
}
