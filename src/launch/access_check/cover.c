#include "launch/access_check/cover.h"

#include "access/set/range.h"
#include "base/checked.h"
#include "base/mix.h"

#include <stddef.h>

pti_units pti_units_of(const polytile_domain *threads, const int64_t *block) {
    pti_units units = {.threads = *threads, .n_units = 1};
    for (int k = 0; k < threads->n_dims; k++) {
        units.extent[k] = block == NULL ? 1 : pti_max(1, block[k]);
        units.count[k] = pti_ceil_div(pti_range_count(threads->range[k]), units.extent[k]);
        if (pti_mul_overflows(units.n_units, units.count[k], &units.n_units))
            units.n_units = INT64_MAX;
    }
    return units;
}

/** Return the threads of the blocks first .. last along an index. */
static polytile_range threads_of(const pti_units *units, int k, int64_t first, int64_t last) {
    const polytile_range *whole = &units->threads.range[k];
    int64_t n = units->extent[k];
    return (polytile_range){
        whole->lo + first * n,
        last == units->count[k] - 1 ? whole->hi : whole->lo + (last + 1) * n - 1, 1};
}

/** Return the threads of the k-th block in C order. */
static polytile_domain block_at(const pti_units *units, int64_t k) {
    polytile_domain box = units->threads;
    for (int d = box.n_dims - 1; d >= 0; d--) {
        int64_t at = k % units->count[d];
        box.range[d] = threads_of(units, d, at, at);
        k /= units->count[d];
    }
    return box;
}

int64_t pti_units_n_drawn(const pti_units *units, int64_t n_most) {
    return pti_min(units->n_units, n_most);
}

polytile_domain pti_units_draw(const pti_units *units, int64_t n_most, int64_t k) {
    polytile_domain box = units->threads;
    if (units->n_units <= n_most)
        return block_at(units, k);
    bool is_corner = k < INT64_C(1) << box.n_dims;
    for (int d = 0; d < box.n_dims; d++) {
        int64_t last = units->count[d] - 1;
        int64_t drawn = (int64_t)(pti_scramble((uint64_t)k * POLYTILE_MAX_DIMS + (uint64_t)d) %
                                  (uint64_t)units->count[d]);
        int64_t at = is_corner ? (k >> d & 1) * last : drawn;
        box.range[d] = threads_of(units, d, at, at);
    }
    return box;
}

bool pti_units_halve(const pti_units *units, const polytile_domain *box, polytile_domain *halves) {
    int widest = 0;
    int64_t most = 0;
    for (int d = 0; d < box->n_dims; d++) {
        int64_t n = pti_ceil_div(pti_range_count(box->range[d]), units->extent[d]);
        if (n > most) {
            most = n;
            widest = d;
        }
    }
    halves[0] = halves[1] = *box;
    if (most < 2)
        return false;
    halves[0].range[widest].hi = box->range[widest].lo + most / 2 * units->extent[widest] - 1;
    halves[1].range[widest].lo = halves[0].range[widest].hi + 1;
    return true;
}
