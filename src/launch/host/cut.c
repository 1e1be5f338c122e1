#include "launch/host/cut.h"

#include "base/checked.h"

#include <stdlib.h>

enum { DIMS_TO_CUT = 3 };

static const double good_balance = 0.95;

/** The search for the cut with the best balance. */
typedef struct cut_search {
    const polytile_domain *threads;
    const bool *may_cut;
    int n_workers;
    pti_cut best;
} cut_search;

static pti_cut whole_cut(const polytile_domain *threads) {
    pti_cut cut = {.n_chunks = 1};
    for (int d = 0; d < threads->n_dims; d++)
        cut.n_chunks_along[d] = 1;
    return cut;
}

static double balance_of(const cut_search *search, const pti_cut *cut) {
    double balance = (double)cut->n_chunks / search->n_workers;
    for (int d = 0; d < search->threads->n_dims; d++) {
        int64_t extent = pti_range_count(search->threads->range[d]);
        int64_t largest = pti_ceil_div(extent, cut->n_chunks_along[d]);
        balance *= (double)extent / (double)cut->n_chunks_along[d] / (double)largest;
    }
    return balance;
}

/** Try all numbers of chunks for dimension d and those inside it, many outer chunks first. */
static void search_from(cut_search *search, pti_cut cut, int d, int n_dims_left) {
    while (d < search->threads->n_dims &&
           (!search->may_cut[d] || pti_range_count(search->threads->range[d]) == 1))
        d++;
    if (d == search->threads->n_dims || n_dims_left == 0 || cut.n_chunks == search->n_workers) {
        cut.balance = balance_of(search, &cut);
        if (cut.balance > search->best.balance)
            search->best = cut;
        return;
    }
    int64_t most =
        pti_min(pti_range_count(search->threads->range[d]), search->n_workers / cut.n_chunks);
    for (int64_t n = most; n >= 1 && search->best.balance < good_balance; n--) {
        pti_cut next = cut;
        next.n_chunks_along[d] = n;
        next.n_chunks *= n;
        search_from(search, next, d + 1, n_dims_left - 1);
    }
}

pti_cut pti_cut_evenly(const polytile_domain *threads, int n_workers, const bool *may_cut) {
    cut_search search = {threads, may_cut, n_workers, whole_cut(threads)};
    search_from(&search, whole_cut(threads), 0, DIMS_TO_CUT);
    return search.best;
}

polytile_domain pti_cut_chunk(const polytile_domain *threads, const pti_cut *cut, int64_t k) {
    polytile_domain chunk = *threads;
    for (int d = threads->n_dims - 1; d >= 0; d--) {
        chunk.range[d] =
            pti_range_cut(threads->range[d], cut->n_chunks_along[d], k % cut->n_chunks_along[d]);
        k /= cut->n_chunks_along[d];
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

bool pti_cut_separates(const pti_instance *instance, int operand, const polytile_domain *threads,
                       const pti_cut *cut) {
    polytile_domain *hulls = malloc((size_t)cut->n_chunks * sizeof *hulls);
    if (hulls == NULL)
        return false;
    for (int64_t k = 0; k < cut->n_chunks; k++) {
        polytile_domain chunk = pti_cut_chunk(threads, cut, k);
        hulls[k] = pti_footprint_hull(instance, operand, PTI_WRITES, &chunk);
    }
    bool separates = are_disjoint(hulls, cut->n_chunks);
    free(hulls);
    return separates;
}
