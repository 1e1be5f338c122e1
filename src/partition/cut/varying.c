/* Superblocks of varying size, for footprints that grow or shrink with the position: along one such
 * index each superblock is as long as fits, the others are cut evenly. Cutting greedily is optimal
 * along one index, since a part of what fits fits. */
#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/cut/family.h"

/** How many ways of cutting the other indices are tried. */
enum { MAX_TRIES = 64 };

/** Superblocks of varying extents while they are found. */
typedef struct varying {
    const pti_problem *problem;
    int n_buffers;
    int64_t max_superblocks;
    int index;                        /* along which extents vary */
    int64_t shape[POLYTILE_MAX_DIMS]; /* of the other indices */
} varying;

static bool superblock_fits(const varying *of, const int64_t *first, const int64_t *shape) {
    const pti_instance *instance = of->problem->instance;
    polytile_domain threads = pti_grid_box(&of->problem->grid, first, shape);
    pti_demand demand = {0};
    int64_t n_pieces[PTI_MAX_OPERANDS];
    int n_places[PTI_MAX_OPERANDS] = {0};
    for (int a = 0; a < instance->n_operands; a++)
        n_pieces[a] = INT64_MAX;
    pti_demand_add(&demand, instance, &threads);
    int64_t limit_bytes = of->problem->limit_bytes;
    return pti_demand_divide(&demand, instance, n_pieces, n_places, of->n_buffers, 1, limit_bytes)
               .arena_bytes <= limit_bytes;
}

/** A search for the most blocks along the varying index: the longest known to fit, and the shortest
 * known not to. */
typedef struct extent_search {
    int64_t fitting, failing;
} extent_search;

static void try_length(const varying *of, const int64_t *first, int64_t length, int64_t *shape,
                       extent_search *known) {
    if (length <= known->fitting || length >= known->failing)
        return;
    shape[of->index] = length;
    if (superblock_fits(of, first, shape))
        known->fitting = length;
    else
        known->failing = length;
}

/** Return the most blocks along the varying index from first on; 0 if not even one fits. Most
 * superblocks are as long as the one before: near, or 0 for the first. */
static int64_t longest_from(const varying *of, const int64_t *first, int64_t near, int64_t *shape) {
    extent_search known = {.failing = of->problem->grid.n_blocks[of->index] - first[of->index] + 1};
    try_length(of, first, near, shape, &known);
    try_length(of, first, near + 1, shape, &known);
    while (known.failing - known.fitting > 1)
        try_length(of, first, known.fitting + (known.failing - known.fitting) / 2, shape, &known);
    return known.fitting;
}

/** Cut one column of the grid; gives the number of superblocks, 0 if nothing fits, -1 if memory
 * runs out. */
static int64_t cut_column(const varying *of, int64_t *first, pti_partition *partition) {
    int64_t shape[POLYTILE_MAX_DIMS];
    for (int d = 0; d < of->problem->instance->n_indices; d++)
        shape[d] = of->shape[d];
    int64_t n_cut = 0;
    int64_t length = 0;
    first[of->index] = 0;
    while (first[of->index] < of->problem->grid.n_blocks[of->index]) {
        length = longest_from(of, first, length, shape);
        if (length == 0)
            return 0;
        shape[of->index] = length;
        polytile_domain threads = pti_grid_box(&of->problem->grid, first, shape);
        if (!pti_partition_add(partition, &threads))
            return -1;
        partition->shape[of->index] = pti_max(partition->shape[of->index], length);
        first[of->index] += length;
        if (partition->n_superblocks > of->max_superblocks)
            return 0;
        n_cut++;
    }
    return n_cut;
}

static bool next_column(const varying *of, int64_t *first) {
    for (int d = of->problem->instance->n_indices - 1; d >= 0; d--) {
        if (d == of->index)
            continue;
        first[d] += of->shape[d];
        if (first[d] < of->problem->grid.n_blocks[d])
            return true;
        first[d] = 0;
    }
    return false;
}

/** Return whether single blocks along the varying index fit at the corners of the grid, where
 * footprints are usually largest. */
static bool corners_fit(const varying *of) {
    const int n_indices = of->problem->instance->n_indices;
    bool fit = true;
    for (unsigned corner = 0; corner < 1u << n_indices && fit; corner++) {
        int64_t first[POLYTILE_MAX_DIMS], shape[POLYTILE_MAX_DIMS];
        for (int d = 0; d < n_indices; d++) {
            shape[d] = d == of->index ? 1 : of->shape[d];
            first[d] = (corner >> d & 1) == 0
                           ? 0
                           : (of->problem->grid.n_blocks[d] - 1) / shape[d] * shape[d];
        }
        fit = superblock_fits(of, first, shape);
    }
    return fit;
}

/** Cut all columns for one shape of the other indices; *found says whether they fit. */
static bool cut_all(const varying *of, bool *found, pti_partition *partition) {
    int64_t first[POLYTILE_MAX_DIMS] = {0};
    *partition = (pti_partition){.n_buffers = of->n_buffers};
    *found = false;
    if (!corners_fit(of))
        return true;
    for (int d = 0; d < of->problem->instance->n_indices; d++)
        partition->shape[d] = d == of->index ? 0 : of->shape[d];
    int64_t n_cut;
    do {
        n_cut = cut_column(of, first, partition);
    } while (n_cut > 0 && next_column(of, first));
    *found = n_cut > 0 && partition->n_superblocks <= of->max_superblocks;
    return n_cut >= 0;
}

static bool is_worth_varying(const pti_problem *problem, int d) {
    return !problem->only_moves[d] && problem->grid.n_blocks[d] > 1;
}

/** Halve the extents of the other indices one after another; false when all are one block. */
static bool next_shape(varying *of) {
    for (int d = 0; d < of->problem->instance->n_indices; d++) {
        if (d == of->index || of->shape[d] == 1)
            continue;
        of->shape[d] = pti_ceil_div(of->shape[d], 2);
        return true;
    }
    return false;
}

static bool try_index(varying *of, pti_partition *best) {
    for (int d = 0; d < of->problem->instance->n_indices; d++)
        of->shape[d] = of->problem->grid.n_blocks[d];
    int n_tries = 0;
    do {
        bool fit;
        pti_partition made;
        if (!cut_all(of, &fit, &made)) {
            pti_partition_free(&made);
            return false;
        }
        if (fit && (best->n_superblocks == 0 || made.n_superblocks < best->n_superblocks)) {
            pti_partition_free(best);
            *best = made;
            of->max_superblocks = made.n_superblocks;
        } else {
            pti_partition_free(&made);
        }
    } while (++n_tries < MAX_TRIES && next_shape(of));
    return true;
}

/** Cut along the best of all indices, if that has at most as many superblocks as the candidate
 * says. */
static bool cut_to_fit(const pti_problem *problem, const pti_candidate *candidate,
                       pti_partition *partition) {
    *partition = (pti_partition){0};
    varying of = {.problem = problem,
                  .n_buffers = candidate->variant.n_buffers,
                  .max_superblocks = candidate->n_kernels};
    bool made = true;
    for (of.index = 0; of.index < problem->instance->n_indices && made; of.index++)
        made = !is_worth_varying(problem, of.index) || try_index(&of, partition);
    return made;
}

/** Return whether footprints grow or shrink along some index. Edges alone, at the ends, are worth
 * it where equal superblocks fit nowhere because some go round an end. */
static bool some_vary(const pti_problem *problem, bool fits) {
    const pti_instance *instance = problem->instance;
    bool does = false;
    for (int d = 0; d < instance->n_indices && !does; d++) {
        does = !problem->only_moves[d] && !fits;
        for (int o = 0; o < instance->n_operands && !does; o++)
            does = pti_operand_trend_within_edges(instance, o, d) != PTI_CONSTANT;
    }
    return does;
}

/** With each number of buffers. */
static bool add_varying_buffer(const pti_problem *problem, const pti_buffer_range *buffers,
                               bool fits, pti_variant *variant) {
    variant->n_buffers = variant->n_buffers == 0 ? buffers->first : variant->n_buffers + 1;
    return variant->n_buffers <= buffers->last && some_vary(problem, fits);
}

const pti_family pti_family_varying = {
    .name = "varying", .next = add_varying_buffer, .partition = cut_to_fit};
