#include "distribute/exchange/depth.h"

#include "base/checked.h"

#include <stddef.h>

/* Return the ownership by which the first launch that has one is divided; NULL: none has, or memory
 * runs out. */
static const pti_ownership *find_leader(const pti_superstep *superstep, bool *failed) {
    for (int l = 0; l < superstep->n_launches && !*failed; l++) {
        pti_home home = pti_home_of(&superstep->launch[l], superstep->ownerships);
        *failed = home.failed;
        if (home.operand >= 0 && !home.failed)
            return pti_home_owner(&superstep->launch[l], superstep->ownerships, home.operand);
    }
    return NULL;
}

/* Return the distance of the first and the last index that a part owns; -1: it owns none. */
static int64_t extent_of_part(const pti_ownership *ownership, int dim, int part) {
    int64_t n = pti_ownership_count(ownership, dim, part);
    if (n == 0)
        return -1;
    return pti_ownership_range(ownership, dim, part, n - 1).hi -
           pti_ownership_range(ownership, dim, part, 0).lo;
}

static int busiest_part(const pti_ownership *ownership, int dim) {
    int n_parts = ownership->grid.extent[dim], busiest = n_parts / 2;
    int64_t most = extent_of_part(ownership, dim, busiest);
    for (int distance = 1; distance <= n_parts / 2; distance++)
        for (int side = -1; side <= 1; side += 2) {
            int part = n_parts / 2 + side * distance;
            int64_t extent = part < n_parts ? extent_of_part(ownership, dim, part) : -1;
            busiest = extent > most ? part : busiest;
            most = pti_max(most, extent);
        }
    return busiest;
}

int pti_superstep_busiest(const pti_superstep *superstep) {
    bool failed = false;
    const pti_ownership *leader = find_leader(superstep, &failed);
    int coordinate[POLYTILE_MAX_DIMS];
    if (leader == NULL)
        return failed ? -1 : 0;
    for (int d = 0; d < leader->grid.n_dims; d++)
        coordinate[d] = busiest_part(leader, d);
    return pti_member_grid_at(&leader->grid, coordinate);
}

/* Return whether the first n launches run few enough threads beside their shares; false when memory
 * runs out. */
static bool find_thrifty(const pti_superstep *superstep, int n, int member, double fraction,
                         bool *is_thrifty) {
    pti_superstep first = *superstep;
    pti_work work;
    first.n_launches = n;
    if (!pti_work_create(&first, member, &work))
        return false;
    *is_thrifty = (double)work.n_extra_threads <= fraction * (double)work.n_threads;
    pti_work_free(&work);
    return true;
}

static int count_possible(const pti_superstep *superstep, int n) {
    pti_superstep first = *superstep;
    first.n_launches = n;
    return pti_superstep_longest(&first);
}

int pti_superstep_depth(const pti_superstep *superstep, double fraction, int most) {
    int member = pti_superstep_busiest(superstep);
    int good = 1, bad = (int)pti_min(superstep->n_launches, pti_max(most, 1)) + 1;
    bool doubles = true;
    while (good + 1 < bad && member >= 0) {
        int next = (int)(doubles ? pti_min(2 * (int64_t)good, bad - 1) : good + (bad - good) / 2);
        int possible = count_possible(superstep, next);
        bool fits = false;
        if (possible == 0)
            return 0;
        if (possible == next && !find_thrifty(superstep, next, member, fraction, &fits))
            return 0;
        doubles = doubles && (fits || possible < next);
        if (fits)
            good = next;
        else
            bad = possible < next ? possible + 1 : next;
    }
    return member >= 0 ? good : 0;
}
