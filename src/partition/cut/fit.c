#include "partition/cut/fit.h"

#include "base/checked.h"

/** Below this many superblocks all of them are looked at. */
enum { MAX_LISTED = 32, MAX_POSITIONS = 5 };

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

/** A superblock, or a strip of it. */
static polytile_domain threads_at(const pti_problem *problem, const int64_t *shape,
                                  const int64_t *position) {
    polytile_domain threads = pti_grid_superblock(&problem->grid, shape, position);
    if (problem->in_strips) {
        int cut = problem->strips.cut;
        polytile_range *range = &threads.range[cut];
        int64_t n_threads =
            pti_strip_blocks(&problem->strips, shape[cut]) * problem->grid.block[cut];
        range->hi = pti_min(range->hi, range->lo + n_threads - 1);
    }
    return threads;
}

static int n_strips(const pti_problem *problem, const int64_t *shape) {
    int64_t n_blocks = shape[problem->strips.cut];
    return (int)pti_ceil_div(n_blocks, pti_strip_blocks(&problem->strips, n_blocks));
}

/** The slots of operands that have as many whatever the buffers; 0: no such operand. */
static void count_kept(const pti_problem *problem, const int64_t *shape, int *n_kept) {
    for (int a = 0; a < problem->instance->n_operands; a++)
        n_kept[a] = problem->in_strips
                        ? pti_strips_slots(&problem->strips, a, n_strips(problem, shape))
                        : problem->in_lines && !problem->depends[a][problem->line];
}

static bool fits_at(const pti_problem *problem, const int64_t *shape, int n_buffers,
                    const positions *list) {
    const pti_instance *instance = problem->instance;
    pti_demand demand = {0};
    int chosen[POLYTILE_MAX_DIMS] = {0};
    do {
        int64_t position[POLYTILE_MAX_DIMS];
        for (int d = 0; d < instance->n_indices; d++)
            position[d] = list->position[d][chosen[d]];
        polytile_domain threads = threads_at(problem, shape, position);
        pti_demand_add(&demand, instance, &threads);
        if (demand.superblock_bytes > problem->limit_bytes)
            return false;
    } while (next_combination(list, instance->n_indices, chosen));
    int64_t n_pieces[PTI_MAX_OPERANDS];
    int n_kept[PTI_MAX_OPERANDS];
    count_kept(problem, shape, n_kept);
    pti_count_pieces(instance, &problem->grid, shape, n_pieces);
    pti_division division = pti_demand_divide(
        &demand, instance, n_pieces, problem->in_strips || problem->in_lines ? n_kept : NULL,
        n_buffers, problem->limit_bytes);
    return division.arena_bytes <= problem->limit_bytes;
}

bool pti_fit_quick(const pti_problem *problem, const int64_t *shape, int n_buffers) {
    positions list;
    list_quick(problem, shape, &list);
    return fits_at(problem, shape, n_buffers, &list);
}

bool pti_fit_full(const pti_problem *problem, const int64_t *shape, int n_buffers) {
    positions list;
    list_full(problem, shape, &list);
    return fits_at(problem, shape, n_buffers, &list);
}
