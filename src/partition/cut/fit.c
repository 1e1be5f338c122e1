#include "partition/cut/fit.h"

#include "base/checked.h"
#include "partition/cut/family.h"

#include <string.h>

/** Below this many superblocks all of them are looked at. */
enum { MAX_LISTED = 32, MAX_POSITIONS = 5 };

/** The most superblocks that are all looked at where index arrays are looked up. */
enum { MOST_QUICK = 1 << 12, MOST_FULL = 1 << 16 };

/** Groups of superblocks are this many times as long along each index as those tried next. */
enum { GROUP_FACTOR = 4 };

/** The positions to look at along each index, ascending and distinct. */
typedef struct positions {
    int n_positions[POLYTILE_MAX_DIMS];
    int64_t position[POLYTILE_MAX_DIMS][MAX_LISTED];
} positions;

static void add_position(positions *list, int d, int64_t position, int64_t quotient) {
    int n = list->n_positions[d];
    bool is_new = n == 0 || list->position[d][n - 1] < position;
    if (position >= 0 && position < quotient && is_new)
        list->position[d][list->n_positions[d]++] = position;
}

static void list_quick(const pti_problem *problem, const int64_t *shape, positions *list) {
    for (int d = 0; d < problem->instance->n_indices; d++) {
        int64_t quotient = pti_grid_quotient(&problem->grid, shape, d);
        list->n_positions[d] = 0;
        if (quotient > 2 && problem->only_moves[d]) {
            add_position(list, d, (quotient - 1) / 2, quotient);
            continue;
        }
        add_position(list, d, 0, quotient);
        add_position(list, d, (quotient - 1) / 2, quotient);
        add_position(list, d, quotient - 2, quotient);
        add_position(list, d, quotient - 1, quotient);
    }
}

static void list_full(const pti_problem *problem, const int64_t *shape, positions *list) {
    bool all = pti_grid_n_superblocks(&problem->grid, shape) <= MAX_LISTED;
    for (int d = 0; d < problem->instance->n_indices; d++) {
        int64_t quotient = pti_grid_quotient(&problem->grid, shape, d);
        const int64_t some[MAX_POSITIONS] = {0, 1, (quotient - 1) / 2, quotient - 2, quotient - 1};
        list->n_positions[d] = 0;
        for (int64_t k = 0; k < (all ? quotient : MAX_POSITIONS); k++)
            add_position(list, d, all ? k : some[k], quotient);
    }
}

/** Step through all combinations of listed positions; false after the last. */
static bool next_combination(const positions *list, int n_dims, int *chosen) {
    for (int d = n_dims - 1; d >= 0; d--) {
        if (++chosen[d] < list->n_positions[d])
            return true;
        chosen[d] = 0;
    }
    return false;
}

/** Return the threads of a superblock, or of its first strip. */
static polytile_domain threads_at(const pti_problem *problem, const pti_variant *variant,
                                  const int64_t *shape, const int64_t *position) {
    polytile_domain threads = pti_grid_superblock(&problem->grid, shape, position);
    if (variant->n_strips > 1) {
        polytile_range *range = &threads.range[variant->cut];
        int64_t n_threads = pti_strip_blocks(variant, shape) * problem->grid.block[variant->cut];
        range->hi = pti_min(range->hi, range->lo + n_threads - 1);
    }
    return threads;
}

/** Return how many different pieces of an operand the superblocks of a shape have. The largest
 * piece, where one contains all others, is the only one. */
static int64_t count_pieces(const pti_problem *problem, const int64_t *shape, int operand) {
    int64_t n_pieces = 1;
    for (int d = 0; d < problem->instance->n_indices && !problem->has_largest[operand]; d++)
        if (problem->depends[operand][d])
            n_pieces = pti_mul_saturated(n_pieces, pti_grid_quotient(&problem->grid, shape, d));
    return n_pieces;
}

/** Return how many fixed places an operand has; 0: as many as there are buffers. */
static int count_places(const pti_problem *problem, const pti_variant *variant,
                        const int64_t *shape, int operand) {
    const pti_family *family = variant->family;
    const int n_places =
        family->count_places == NULL ? 0 : family->count_places(problem, variant, shape, operand);
    const bool keeps = problem->keeps_largest && problem->has_largest[operand];
    return n_places == 0 && keeps ? 1 : n_places;
}

/** Go on to the next superblock; false after the last. */
static bool next_superblock(const pti_problem *problem, const int64_t *shape, int64_t *position) {
    for (int d = problem->instance->n_indices - 1; d >= 0; d--) {
        if (++position[d] < pti_grid_quotient(&problem->grid, shape, d))
            return true;
        position[d] = 0;
    }
    return false;
}

/** Return the most superblocks along an index. */
static int64_t most_along_an_index(const pti_problem *problem, const int64_t *shape) {
    int64_t most = 0;
    for (int d = 0; d < problem->instance->n_indices; d++)
        most = pti_max(most, pti_grid_quotient(&problem->grid, shape, d));
    return most;
}

/** Return whether an arena for superblocks of a shape, of which none needs more than a demand, fits
 * the limit. */
static bool arena_fits(const pti_problem *problem, const pti_variant *variant, const int64_t *shape,
                       const pti_demand *demand) {
    const pti_instance *instance = problem->instance;
    int64_t n_pieces[PTI_MAX_OPERANDS];
    int n_places[PTI_MAX_OPERANDS];
    if (demand->superblock_bytes > problem->limit_bytes)
        return false;
    for (int a = 0; a < instance->n_operands; a++) {
        n_pieces[a] = count_pieces(problem, shape, a);
        n_places[a] = count_places(problem, variant, shape, a);
    }
    pti_division division = pti_demand_divide(demand, instance, n_pieces, n_places,
                                              variant->n_buffers, 1, problem->limit_bytes);
    return division.arena_bytes <= problem->limit_bytes;
}

/** Return whether an arena for superblocks of a shape fits the limit if all superblocks of another
 * shape are added to what it is to hold: it does not once one of them is too much. */
static bool fits_with_all(const pti_problem *problem, const pti_variant *variant,
                          const int64_t *shape, const pti_variant *variant_of_added,
                          const int64_t *added, pti_demand demand) {
    int64_t position[POLYTILE_MAX_DIMS] = {0};
    bool fits = true;
    do {
        const pti_demand before = demand;
        polytile_domain threads = threads_at(problem, variant_of_added, added, position);
        pti_demand_add(&demand, problem->instance, &threads);
        if (memcmp(&before, &demand, sizeof demand) != 0)
            fits = arena_fits(problem, variant, shape, &demand);
    } while (fits && next_superblock(problem, added, position));
    return fits;
}

/** Let groups be factor superblocks of a shape long along each index. */
static void group_superblocks(const pti_grid *grid, const int64_t *shape, int64_t factor,
                              int64_t *group) {
    for (int d = 0; d < grid->threads.n_dims; d++)
        group[d] = pti_min(grid->n_blocks[d], pti_mul_saturated(shape[d], factor));
}

/** Return whether neighbouring superblocks fit together as one, in groups of any size: then each
 * fits by itself, since no part of a group needs more than that. False: look at each. */
static bool groups_fit(const pti_problem *problem, const pti_variant *variant, const int64_t *shape,
                       const pti_demand *known) {
    const pti_variant whole = pti_variant_of(variant->family, variant->n_buffers);
    int64_t group[POLYTILE_MAX_DIMS], factor = 1;
    bool fit = false;
    while (factor < most_along_an_index(problem, shape))
        factor *= GROUP_FACTOR;
    for (; factor > 1 && !fit; factor /= GROUP_FACTOR) {
        group_superblocks(&problem->grid, shape, factor, group);
        fit = fits_with_all(problem, variant, shape, &whole, group, *known);
    }
    return fit;
}

/** Return whether all superblocks fit, where index arrays are looked up, since what these hold says
 * which one needs most: if there are not too many of them. known: what some of them need. */
static bool all_fit(const pti_problem *problem, const pti_variant *variant, const int64_t *shape,
                    const pti_demand *known) {
    return (problem->instance->n_further == 0 && groups_fit(problem, variant, shape, known)) ||
           fits_with_all(problem, variant, shape, variant, shape, *known);
}

/** Return whether the superblocks of a shape at listed positions fit the limit. */
static bool fits_at(const pti_problem *problem, const pti_variant *variant, const int64_t *shape,
                    const positions *list, int64_t most) {
    const pti_instance *instance = problem->instance;
    pti_demand demand = {0};
    int chosen[POLYTILE_MAX_DIMS] = {0};
    do {
        int64_t position[POLYTILE_MAX_DIMS];
        for (int d = 0; d < instance->n_indices; d++)
            position[d] = list->position[d][chosen[d]];
        polytile_domain threads = threads_at(problem, variant, shape, position);
        pti_demand_add(&demand, instance, &threads);
        if (demand.superblock_bytes > problem->limit_bytes)
            return false;
    } while (next_combination(list, instance->n_indices, chosen));
    return arena_fits(problem, variant, shape, &demand) &&
           (instance->inspection == NULL || pti_grid_n_superblocks(&problem->grid, shape) > most ||
            all_fit(problem, variant, shape, &demand));
}

bool pti_fit_quick(const pti_problem *problem, const pti_variant *variant, const int64_t *shape) {
    positions list;
    list_quick(problem, shape, &list);
    return fits_at(problem, variant, shape, &list, MOST_QUICK);
}

bool pti_fit_full(const pti_problem *problem, const pti_variant *variant, const int64_t *shape) {
    positions list;
    list_full(problem, shape, &list);
    return fits_at(problem, variant, shape, &list, MOST_FULL);
}

bool pti_fit_block(const pti_problem *problem, int n_buffers) {
    pti_variant plain = pti_variant_of(&pti_family_plain, n_buffers);
    pti_problem one = *problem;
    one.keeps_largest = false;
    return pti_fit_full(&one, &plain, pti_one_block);
}

bool pti_fit_shrink(const pti_problem *problem, const pti_variant *variant, int64_t *shape) {
    while (!pti_fit_quick(problem, variant, shape))
        if (!pti_grid_halve_block(problem->instance->n_indices, shape))
            return false;
    return true;
}
