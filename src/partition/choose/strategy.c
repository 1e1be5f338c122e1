#include "partition/choose/strategy.h"

#include <math.h>
#include <string.h>

/** Estimates closer than rounding are equal. */
static bool are_estimates_apart(double a, double b) {
    return fabs(a - b) > 1e-9 * fmax(a, b);
}

/** Return whether rows are longer, which decides if all else is equal: long ones are transferred
 * faster, and stay in place when the halo moves. */
static bool longer_rows(const pti_candidate *a, const pti_candidate *b) {
    for (int d = POLYTILE_MAX_DIMS - 1; d >= 0; d--) {
        if (a->shape[d] != b->shape[d])
            return a->shape[d] > b->shape[d];
    }
    return false;
}

static bool fewer_kernels(const pti_candidate *a, const pti_candidate *b) {
    if (a->n_kernels != b->n_kernels)
        return a->n_kernels < b->n_kernels;
    return are_estimates_apart(pti_candidate_bytes(a), pti_candidate_bytes(b))
               ? pti_candidate_bytes(a) < pti_candidate_bytes(b)
               : longer_rows(a, b);
}

static bool less_traffic(const pti_candidate *a, const pti_candidate *b) {
    if (are_estimates_apart(pti_candidate_bytes(a), pti_candidate_bytes(b)))
        return pti_candidate_bytes(a) < pti_candidate_bytes(b);
    return longer_rows(a, b) || (!longer_rows(b, a) && a->n_kernels < b->n_kernels);
}

static bool less_time(const pti_candidate *a, const pti_candidate *b) {
    if (are_estimates_apart(a->seconds, b->seconds))
        return a->seconds < b->seconds;
    return are_estimates_apart(pti_candidate_bytes(a), pti_candidate_bytes(b))
               ? pti_candidate_bytes(a) < pti_candidate_bytes(b)
               : longer_rows(a, b);
}

static bool cost_fewer_kernels(const pti_cost *a, const pti_cost *b) {
    return a->n_kernels != b->n_kernels ? a->n_kernels < b->n_kernels
                                        : a->moved_bytes < b->moved_bytes;
}

static bool cost_less_traffic(const pti_cost *a, const pti_cost *b) {
    return a->moved_bytes != b->moved_bytes ? a->moved_bytes < b->moved_bytes
                                            : a->n_kernels < b->n_kernels;
}

static bool cost_less_time(const pti_cost *a, const pti_cost *b) {
    return a->seconds < b->seconds;
}

/** Shapes tried: enough for every quotient of 1024 x 1024 blocks, or a thinned list where each
 * costs an estimate. */
enum { ALL_SHAPES = 20000, SOME_SHAPES = 49, SOME_EXTENTS = 20 };

/** The first one is the default. */
static const pti_strategy strategies[] = {
    {.name = "min-time",
     .objective = {less_time, false, true, SOME_SHAPES, SOME_EXTENTS},
     .is_cheaper = cost_less_time,
     .max_buffers = 2},
    {.name = "min-traffic",
     .objective = {less_traffic, false, false, SOME_SHAPES, SOME_EXTENTS},
     .is_cheaper = cost_less_traffic,
     .max_buffers = 2,
     .fewest_bytes = true},
    {.name = "min-kernels",
     .objective = {fewer_kernels, true, false, ALL_SHAPES, PTI_MAX_EXTENTS},
     .is_cheaper = cost_fewer_kernels,
     .max_buffers = 1},
    {.name = "paper",
     .objective = {fewer_kernels, true, false, ALL_SHAPES, PTI_MAX_EXTENTS},
     .is_cheaper = cost_fewer_kernels,
     .solved = &pti_family_paper,
     .max_buffers = 1},
};

const pti_strategy *pti_strategy_find(const char *name) {
    for (size_t k = 0; k < sizeof strategies / sizeof *strategies; k++) {
        if (name == NULL || strcmp(strategies[k].name, name) == 0)
            return &strategies[k];
    }
    return NULL;
}

int pti_strategy_lanes(const pti_strategy *strategy, const pti_instance *instance,
                       int64_t n_asked) {
    return strategy->objective.fewest_kernels ? 1 : pti_partition_lanes(instance, n_asked);
}

const char *pti_strategy_names(void) {
    return "min-time, min-traffic, min-kernels, paper";
}
