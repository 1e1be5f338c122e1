#include "launch/host/chunk_grid.h"

#include "base/checked.h"

#include <stdlib.h>

enum { DIMS_TO_CUT = 3 };

static const double good_balance = 0.95;

/** The search for the grid with the best balance. */
typedef struct grid_search {
    const polytile_domain *threads;
    const bool *may_cut;
    int n_workers;
    pti_chunk_grid best;
} grid_search;

static pti_chunk_grid whole_grid(const polytile_domain *threads) {
    pti_chunk_grid grid = {.n_chunks = 1};
    for (int d = 0; d < threads->n_dims; d++)
        grid.n_chunks_along[d] = 1;
    return grid;
}

static double balance_of(const grid_search *search, const pti_chunk_grid *grid) {
    double balance = (double)grid->n_chunks / search->n_workers;
    for (int d = 0; d < search->threads->n_dims; d++) {
        int64_t extent = pti_range_count(search->threads->range[d]);
        int64_t largest = pti_ceil_div(extent, grid->n_chunks_along[d]);
        balance *= (double)extent / (double)grid->n_chunks_along[d] / (double)largest;
    }
    return balance;
}

/** Try all numbers of chunks for dimension d and those inside it, many outer chunks first. */
static void search_from(grid_search *search, pti_chunk_grid grid, int d, int n_dims_left) {
    while (d < search->threads->n_dims &&
           (!search->may_cut[d] || pti_range_count(search->threads->range[d]) == 1))
        d++;
    if (d == search->threads->n_dims || n_dims_left == 0 || grid.n_chunks == search->n_workers) {
        grid.balance = balance_of(search, &grid);
        if (grid.balance > search->best.balance)
            search->best = grid;
        return;
    }
    int64_t most =
        pti_min(pti_range_count(search->threads->range[d]), search->n_workers / grid.n_chunks);
    for (int64_t n = most; n >= 1 && search->best.balance < good_balance; n--) {
        pti_chunk_grid next = grid;
        next.n_chunks_along[d] = n;
        next.n_chunks *= n;
        search_from(search, next, d + 1, n_dims_left - 1);
    }
}

pti_chunk_grid pti_chunk_grid_evenly(const polytile_domain *threads, int n_workers,
                                     const bool *may_cut) {
    grid_search search = {threads, may_cut, n_workers, whole_grid(threads)};
    search_from(&search, whole_grid(threads), 0, DIMS_TO_CUT);
    return search.best;
}

polytile_domain pti_chunk_grid_get(const polytile_domain *threads, const pti_chunk_grid *grid,
                                   int64_t k) {
    polytile_domain chunk = *threads;
    for (int d = threads->n_dims - 1; d >= 0; d--) {
        chunk.range[d] =
            pti_range_cut(threads->range[d], grid->n_chunks_along[d], k % grid->n_chunks_along[d]);
        k /= grid->n_chunks_along[d];
    }
    return chunk;
}

static bool are_disjoint(const polytile_domain *boxes, int64_t n_boxes) {
    polytile_domain common;
    for (int64_t k = 0; k < n_boxes; k++) {
        for (int64_t before = 0; before < k; before++) {
            if (pti_box_intersect(&boxes[k], &boxes[before], &common))
                return false;
        }
    }
    return true;
}

bool pti_chunk_grid_separates(const pti_instance *instance, int operand,
                              const polytile_domain *threads, const pti_chunk_grid *grid) {
    polytile_domain *hulls = malloc((size_t)grid->n_chunks * sizeof *hulls);
    if (hulls == NULL)
        return false;
    for (int64_t k = 0; k < grid->n_chunks; k++) {
        polytile_domain chunk = pti_chunk_grid_get(threads, grid, k);
        hulls[k] = pti_footprint_hull(instance, operand, PTI_WRITES, &chunk);
    }
    bool separates = are_disjoint(hulls, grid->n_chunks);
    free(hulls);
    return separates;
}
