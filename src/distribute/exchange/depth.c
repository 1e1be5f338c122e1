#include "distribute/exchange/depth.h"

#include "base/checked.h"

#include <stddef.h>

/* The ownership that the first launch which is dealt out goes by; NULL: none is. */
static const pti_ownership *find_leader(const pti_group *group) {
    for (int l = 0; l < group->n_launches; l++) {
        pti_share share = pti_share_of(&group->launch[l], group->ownerships);
        if (share.operand >= 0)
            return pti_share_owner(&group->launch[l], group->ownerships, share.operand);
    }
    return NULL;
}

/* How far apart the first and the last index are that a part owns; -1: it owns none. */
static int64_t extent_of(const pti_ownership *ownership, int dim, int part) {
    int64_t n = pti_ownership_count(ownership, dim, part);
    if (n == 0)
        return -1;
    return pti_ownership_range(ownership, dim, part, n - 1).hi -
           pti_ownership_range(ownership, dim, part, 0).lo;
}

static int busiest_part(const pti_ownership *ownership, int dim) {
    int n_parts = ownership->grid.extent[dim], busiest = n_parts / 2;
    int64_t most = extent_of(ownership, dim, busiest);
    for (int distance = 1; distance <= n_parts / 2; distance++)
        for (int side = -1; side <= 1; side += 2) {
            int part = n_parts / 2 + side * distance;
            int64_t extent = part < n_parts ? extent_of(ownership, dim, part) : -1;
            busiest = extent > most ? part : busiest;
            most = pti_max(most, extent);
        }
    return busiest;
}

int pti_group_busiest(const pti_group *group) {
    const pti_ownership *leader = find_leader(group);
    int coordinate[POLYTILE_MAX_DIMS];
    if (leader == NULL)
        return 0;
    for (int d = 0; d < leader->grid.n_dims; d++)
        coordinate[d] = busiest_part(leader, d);
    return pti_member_grid_at(&leader->grid, coordinate);
}

/* Whether the first n launches run few enough threads beside their shares. */
static bool is_thrifty(const pti_group *group, int n, int member, double fraction) {
    pti_group first = *group;
    pti_work work;
    first.n_launches = n;
    if (!pti_work_create(&first, member, &work))
        return false;
    bool is_thrifty = (double)work.n_extra_threads <= fraction * (double)work.n_threads;
    pti_work_free(&work);
    return is_thrifty;
}

static int count_possible(const pti_group *group, int n) {
    pti_group first = *group;
    first.n_launches = n;
    return pti_group_longest(&first);
}

int pti_group_depth(const pti_group *group, double fraction, int most) {
    int member = pti_group_busiest(group);
    int good = 1, bad = (int)pti_min(group->n_launches, pti_max(most, 1)) + 1;
    bool doubles = true;
    while (good + 1 < bad) {
        int next = (int)(doubles ? pti_min(2 * (int64_t)good, bad - 1) : good + (bad - good) / 2);
        int possible = count_possible(group, next);
        bool fits = possible == next && is_thrifty(group, next, member, fraction);
        doubles = doubles && (fits || possible < next);
        if (fits)
            good = next;
        else
            bad = possible < next ? possible + 1 : next;
    }
    return good;
}
