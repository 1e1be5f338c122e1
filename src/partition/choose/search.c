#include "partition/choose/search.h"

#include "base/checked.h"
#include "partition/cut/family.h"
#include "partition/cut/fit.h"
#include "partition/schedule/builder.h"

#include <math.h>
#include <string.h>

/** At most 2 * sqrt(n) quotients are distinct; longer lists are thinned out at first. */
enum { MAX_EXTENTS = PTI_MAX_EXTENTS, SMALL_GRID = 64, MAX_HALVINGS = 4, MAX_ROUNDS = 16 };

/** Shapes of full lists, seconds at most: with up to three indices there are never more. */
enum { MOST_SHAPES = 1 << 22 };

/** Extents of one index that are tried. */
typedef struct extents {
    int n_extents;
    int64_t blocks[MAX_EXTENTS]; /* descending */
} extents;

static void list_every(int64_t n_blocks, extents *list) {
    list->n_extents = 0;
    for (int64_t r = n_blocks; r >= 1; r--)
        list->blocks[list->n_extents++] = r;
}

/** How the quotients of a thinned list grow: doubling at most while few parts are tried, which
 * matter most, and then evenly up to the last one. */
static double thinned_ratio(int64_t n_blocks, int64_t quotient, int n_listed, int max_extents) {
    double even = pow((double)n_blocks / (double)quotient, 1.0 / fmax(max_extents - n_listed, 1));
    return 2 * n_listed <= max_extents ? fmin(even, 2) : even;
}

/** Return whether there may be more quotients than are to be listed. */
static bool is_thinned(int64_t n_blocks, int max_extents) {
    return n_blocks > pti_min(max_extents, SMALL_GRID) && 2 * sqrt((double)n_blocks) > max_extents;
}

/** List the smallest extent for each distinct quotient, descending; thinned to about
 * max_extents. */
static void list_quotients(int64_t n_blocks, int max_extents, extents *list) {
    bool thin = is_thinned(n_blocks, max_extents);
    list->n_extents = 0;
    int64_t quotient = 1;
    while (quotient <= n_blocks && list->n_extents < MAX_EXTENTS) {
        int64_t r = pti_ceil_div(n_blocks, quotient);
        list->blocks[list->n_extents++] = r;
        if (r == 1)
            return;
        int64_t next = pti_ceil_div(n_blocks, r - 1);
        double ratio = thinned_ratio(n_blocks, quotient, list->n_extents, max_extents);
        int64_t thinned = (int64_t)floor((double)quotient * ratio + 0.5);
        quotient = thin ? pti_min(pti_max(next, thinned), n_blocks) : next;
    }
}

static int longest_index(const pti_grid *grid) {
    int longest = 0;
    for (int d = 1; d < grid->threads.n_dims; d++) {
        if (grid->n_blocks[d] >= grid->n_blocks[longest])
            longest = d;
    }
    return longest;
}

/** A search for the best shape of a variant. */
typedef struct shape_search {
    const pti_problem *problem;
    const pti_objective *objective;
    const pti_variant *variant;
    int solved_index; /* along which the extent is solved for */
    int n_left;       /* shapes of full lists that may still be tried */
    bool found;
    pti_candidate *best;
} shape_search;

typedef bool fit_test(const pti_problem *problem, const pti_variant *variant, const int64_t *shape);

/** Return whether a shape passes a test with this extent along the index that is solved for. */
static bool fits_at_extent(const shape_search *of, fit_test *fit, int64_t *shape, int64_t extent) {
    shape[of->solved_index] = extent;
    return fit(of->problem, of->variant, shape);
}

/** Return the largest extent at most `most` that passes a test which larger boxes fail; 0 if none
 * does. */
static int64_t largest_extent(const shape_search *of, fit_test *fit, int64_t *shape, int64_t most) {
    if (most <= SMALL_GRID) {
        int64_t extent = most;
        while (extent > 0 && !fits_at_extent(of, fit, shape, extent))
            extent--;
        return extent;
    }
    enum { FIRST_QUOTIENTS = 4 };
    for (int64_t quotient = 1; quotient <= FIRST_QUOTIENTS; quotient++) {
        if (fits_at_extent(of, fit, shape, pti_ceil_div(most, quotient)))
            return shape[of->solved_index];
    }
    int64_t fitting = 0;
    int64_t failing = pti_ceil_div(most, FIRST_QUOTIENTS);
    while (failing - fitting > 1) {
        int64_t middle = fitting + (failing - fitting) / 2;
        if (fits_at_extent(of, fit, shape, middle))
            fitting = middle;
        else
            failing = middle;
    }
    return fitting;
}

/** Equal superblocks rather than full ones and a small rest, where that fits as well. */
static int64_t balance_extent(const shape_search *of, fit_test *fit, int64_t *shape,
                              int64_t extent) {
    int64_t n_blocks = of->problem->grid.n_blocks[of->solved_index];
    int64_t even = pti_ceil_div(n_blocks, pti_ceil_div(n_blocks, extent));
    return fits_at_extent(of, fit, shape, even) ? even : extent;
}

static bool improves_best(const shape_search *of, const int64_t *shape, pti_candidate *candidate) {
    *candidate = (pti_candidate){.variant = *of->variant};
    for (int d = 0; d < of->problem->instance->n_indices; d++)
        candidate->shape[d] = shape[d];
    candidate->n_kernels = pti_grid_n_superblocks(&of->problem->grid, shape);
    if (of->found && of->objective->fewest_kernels && candidate->n_kernels > of->best->n_kernels)
        return false;
    if (of->found)
        return pti_candidate_improves(of->problem, of->objective->is_better, of->best, candidate);
    pti_candidate_estimate(of->problem, candidate);
    return true;
}

static void keep_candidate(shape_search *of, const pti_candidate *candidate) {
    of->found = true;
    *of->best = *candidate;
}

/** Keep a shape that passed the quick test if it is better and passes the full one; else the
 * largest that does. */
static void consider_shape(shape_search *of, int64_t *shape, int64_t extent) {
    pti_candidate candidate;
    shape[of->solved_index] = extent;
    if (!improves_best(of, shape, &candidate))
        return;
    if (!pti_fit_full(of->problem, of->variant, shape)) {
        extent = largest_extent(of, pti_fit_full, shape, extent);
        if (extent == 0)
            return;
        shape[of->solved_index] = balance_extent(of, pti_fit_full, shape, extent);
        if (!improves_best(of, shape, &candidate))
            return;
    }
    keep_candidate(of, &candidate);
}

static bool can_improve(const shape_search *of, int64_t *shape) {
    if (!of->found || !of->objective->fewest_kernels)
        return true;
    shape[of->solved_index] = of->problem->grid.n_blocks[of->solved_index];
    return pti_grid_n_superblocks(&of->problem->grid, shape) <= of->best->n_kernels;
}

/** As many whole tiles as a family wants along its index. */
static int64_t whole_tiles(const shape_search *of, int64_t extent) {
    int64_t block = of->problem->grid.block[of->solved_index];
    int64_t tile = pti_ceil_div(of->variant->family->multiple_threads, block);
    return tile > 0 && extent > tile ? extent - extent % tile : extent;
}

/** Consider the longest extent that fits beside the other ones, and for time some shorter ones. */
static void solve_extent(shape_search *of, int64_t *shape) {
    if (!can_improve(of, shape))
        return;
    int64_t n_blocks = of->problem->grid.n_blocks[of->solved_index];
    int64_t extent = largest_extent(of, pti_fit_quick, shape, n_blocks);
    if (extent == 0)
        return;
    extent = of->variant->family->multiple_threads > 0
                 ? whole_tiles(of, extent)
                 : balance_extent(of, pti_fit_quick, shape, extent);
    consider_shape(of, shape, extent);
    int n_halvings = of->objective->for_time ? MAX_HALVINGS : 0;
    for (int k = 0; k < n_halvings && extent > 1; k++) {
        extent = whole_tiles(of, pti_ceil_div(extent, 2));
        consider_shape(of, shape, extent);
    }
}

/** With one other index a thin list costs little, with more of them the lists multiply. */
static int extents_per_index(const pti_problem *problem, const pti_objective *objective) {
    int n_others = problem->instance->n_indices - 1;
    double each = n_others > 0 ? floor(pow(objective->max_shapes, 1.0 / n_others) + 1e-9) : 1;
    return (int)fmin(fmax(each, 2), objective->max_extents);
}

static void enumerate_extents(shape_search *of, const extents *lists, int d, int64_t *shape) {
    if (d == of->problem->instance->n_indices) {
        solve_extent(of, shape);
        return;
    }
    if (d == of->solved_index) {
        enumerate_extents(of, lists, d + 1, shape);
        return;
    }
    for (int k = 0; k < lists[d].n_extents; k++) {
        shape[d] = lists[d].blocks[k];
        enumerate_extents(of, lists, d + 1, shape);
    }
}

enum { N_NEAR = 5 };

/** Return a quotient along an index: that of the best so far, or one of those near it. */
static int64_t quotient_near(const shape_search *of, int d, int k) {
    int64_t quotient = pti_grid_quotient(&of->problem->grid, of->best->shape, d);
    const int64_t all[N_NEAR] = {quotient, quotient - 1, quotient + 1, quotient / 2, quotient * 2};
    return all[k];
}

/** Let superblocks divide index d into `quotient` parts; false if they cannot. */
static bool set_quotient(const shape_search *of, int64_t *shape, int d, int64_t quotient) {
    int64_t n_blocks = of->problem->grid.n_blocks[d];
    if (quotient < 1 || quotient > n_blocks)
        return false;
    shape[d] = pti_ceil_div(n_blocks, quotient);
    return true;
}

/** Try the superblocks that divide two indices (or one, if they are the same) into other numbers of
 * parts near those of the best so far, all else as there. */
static void try_near(shape_search *of, int d, int e) {
    for (int k = 0; k < N_NEAR * N_NEAR; k++) {
        int64_t shape[POLYTILE_MAX_DIMS];
        int first = k / N_NEAR, second = k % N_NEAR;
        bool changes = d == e ? first == second && first > 0 : first > 0 && second > 0;
        memcpy(shape, of->best->shape, sizeof shape);
        if (changes && set_quotient(of, shape, d, quotient_near(of, d, first)) &&
            set_quotient(of, shape, e, quotient_near(of, e, second)) &&
            memcmp(shape, of->best->shape, sizeof shape) != 0)
            solve_extent(of, shape);
    }
}

/** Climb from the best shape to better ones near it, where lists were thinned. */
static void refine_best(shape_search *of) {
    int n_indices = of->problem->instance->n_indices;
    bool improved = of->found;
    for (int round = 0; improved && round < MAX_ROUNDS; round++) {
        pti_candidate before = *of->best;
        for (int d = 0; d < n_indices; d++) {
            for (int e = d; e < n_indices && d != of->solved_index; e++) {
                if (e != of->solved_index)
                    try_near(of, d, e);
            }
        }
        improved = of->objective->is_better(of->best, &before);
    }
}

/** Solves for a shape, if it fits with the most parts of the solved index that may be as good. */
static void solve_within(shape_search *of, int64_t *shape, int64_t n_others) {
    int64_t n_blocks = of->problem->grid.n_blocks[of->solved_index];
    int64_t most_parts = pti_min(of->best->n_kernels / n_others, n_blocks);
    of->n_left--;
    if (fits_at_extent(of, pti_fit_quick, shape, pti_ceil_div(n_blocks, most_parts)))
        solve_extent(of, shape);
}

/** Go through all distinct quotients of the indices from d on that leave no more kernels than the
 * best has; n_others: the parts of those before. */
static void enumerate_all(shape_search *of, int d, int64_t n_others, int64_t *shape) {
    if (d == of->problem->instance->n_indices) {
        solve_within(of, shape, n_others);
        return;
    }
    if (d == of->solved_index) {
        enumerate_all(of, d + 1, n_others, shape);
        return;
    }
    int64_t n_blocks = of->problem->grid.n_blocks[d];
    for (int64_t parts = 1; of->n_left > 0 && parts <= of->best->n_kernels / n_others;) {
        shape[d] = pti_ceil_div(n_blocks, parts);
        enumerate_all(of, d + 1, n_others * pti_ceil_div(n_blocks, shape[d]), shape);
        if (shape[d] == 1)
            return;
        parts = pti_ceil_div(n_blocks, shape[d] - 1);
    }
}

/** Return whether the fewest kernels may have been missed, and are worth it: plans of more are not
 * made. */
static bool may_be_fewer(const shape_search *of, int max_extents) {
    const pti_grid *grid = &of->problem->grid;
    bool is_any = false;
    for (int d = 0; d < of->problem->instance->n_indices; d++)
        is_any |= d != of->solved_index && is_thinned(grid->n_blocks[d], max_extents);
    return is_any && of->found && of->objective->fewest_kernels &&
           of->best->n_kernels <= 2 * PTI_MAX_SUPERBLOCKS;
}

bool pti_objective_wants(const pti_objective *objective, const pti_family *family) {
    return objective->for_time || !family->for_time;
}

/** How long superblocks are along a variant's index follows from the rest of the shape; else the
 * longest index leaves most room. */
bool pti_search(const pti_problem *problem, const pti_objective *objective,
                const pti_variant *variant, pti_candidate *best) {
    shape_search of = {.problem = problem,
                       .objective = objective,
                       .variant = variant,
                       .solved_index =
                           variant->along >= 0 ? variant->along : longest_index(&problem->grid),
                       .n_left = MOST_SHAPES,
                       .best = best};
    extents lists[POLYTILE_MAX_DIMS];
    int max_extents = extents_per_index(problem, objective);
    for (int d = 0; d < problem->instance->n_indices; d++) {
        int64_t n_blocks = problem->grid.n_blocks[d];
        if (n_blocks <= pti_min(max_extents, SMALL_GRID))
            list_every(n_blocks, &lists[d]);
        else
            list_quotients(n_blocks, max_extents, &lists[d]);
    }
    int64_t shape[POLYTILE_MAX_DIMS] = {0};
    enumerate_extents(&of, lists, 0, shape);
    if (objective->for_time && problem->instance->n_indices > 2)
        refine_best(&of);
    if (may_be_fewer(&of, max_extents))
        enumerate_all(&of, 0, 1, shape);
    return of.found;
}
