#include "access/set/box.h"

#include "base/checked.h"

polytile_domain pti_box_empty(int n_dims) {
    polytile_domain box = {.n_dims = n_dims};
    for (int d = 0; d < n_dims; d++)
        box.range[d] = pti_range_empty();
    return box;
}

bool pti_box_equals(const polytile_domain *a, const polytile_domain *b) {
    if (pti_box_is_empty(a) || pti_box_is_empty(b))
        return pti_box_is_empty(a) && pti_box_is_empty(b);
    for (int d = 0; d < a->n_dims; d++)
        if (!pti_range_equals(a->range[d], b->range[d]))
            return false;
    return true;
}

/* The number of dimensions may be wrong: functions that use the boxes refuse it. */
int pti_box_compare(const polytile_domain *a, const polytile_domain *b) {
    int order = (a->n_dims > b->n_dims) - (a->n_dims < b->n_dims);
    for (int d = 0; order == 0 && d < a->n_dims && d < POLYTILE_MAX_DIMS; d++)
        order = pti_range_compare(&a->range[d], &b->range[d]);
    return order;
}

bool pti_box_intersect(const polytile_domain *a, const polytile_domain *b,
                       polytile_domain *common) {
    bool meets = pti_box_may_meet(a, b);
    common->n_dims = a->n_dims;
    for (int d = 0; meets && d < a->n_dims; d++) {
        common->range[d] = pti_range_intersect(a->range[d], b->range[d]);
        meets = !pti_range_is_empty(common->range[d]);
    }
    for (int d = 0; !meets && d < a->n_dims; d++)
        common->range[d] = pti_range_empty();
    return meets;
}

int64_t pti_box_count(const polytile_domain *box) {
    int64_t count = 1;
    bool too_many = false;
    for (int d = 0; d < box->n_dims; d++) {
        int64_t n = pti_range_count(box->range[d]);
        if (n == 0)
            return 0;
        too_many = too_many || pti_mul_overflows(count, n, &count);
    }
    return too_many ? INT64_MAX : count;
}

polytile_domain pti_box_coarse_union(const polytile_domain *a, const polytile_domain *b) {
    if (pti_box_is_empty(a))
        return *b;
    if (pti_box_is_empty(b))
        return *a;
    polytile_domain both = {.n_dims = a->n_dims};
    for (int d = 0; d < a->n_dims; d++)
        both.range[d] = pti_range_coarse_union(a->range[d], b->range[d]);
    return both;
}

polytile_domain pti_box_without_steps(const polytile_domain *box) {
    polytile_domain whole = *box;
    for (int d = 0; d < box->n_dims; d++)
        whole.range[d].step = 1;
    return whole;
}

polytile_domain pti_box_bounding(const polytile_domain *a, const polytile_domain *b) {
    if (pti_box_is_empty(a))
        return pti_box_without_steps(b);
    if (pti_box_is_empty(b))
        return pti_box_without_steps(a);
    polytile_domain both = {.n_dims = a->n_dims};
    for (int d = 0; d < a->n_dims; d++)
        both.range[d] = (polytile_range){pti_min(a->range[d].lo, b->range[d].lo),
                                         pti_max(a->range[d].hi, b->range[d].hi), 1};
    return both;
}

/** Return the only dimension in which two boxes differ, if they are adjacent there without gaps;
 * else -1. */
static int joined_dimension(const polytile_domain *a, const polytile_domain *b) {
    int found = -1;
    for (int d = 0; d < a->n_dims; d++) {
        polytile_range mine = a->range[d], other = b->range[d];
        if (mine.lo == other.lo && mine.hi == other.hi && mine.step == other.step)
            continue;
        if (found >= 0 || pti_range_has_gaps(mine) || pti_range_has_gaps(other) ||
            mine.lo - 1 > other.hi || other.lo - 1 > mine.hi)
            return -1;
        found = d;
    }
    return found;
}

bool pti_box_absorb(polytile_domain *box, const polytile_domain *added) {
    if (pti_box_contains(box, added))
        return true;
    int d = joined_dimension(box, added);
    if (d < 0)
        return false;
    box->range[d] = (polytile_range){pti_min(box->range[d].lo, added->range[d].lo),
                                     pti_max(box->range[d].hi, added->range[d].hi), 1};
    return true;
}

void pti_box_first_point(const polytile_domain *box, int64_t *point) {
    for (int d = 0; d < box->n_dims; d++)
        point[d] = box->range[d].lo;
}

bool pti_box_next_point(const polytile_domain *box, int64_t *point) {
    for (int d = box->n_dims - 1; d >= 0; d--) {
        if (point[d] <= box->range[d].hi - box->range[d].step) {
            point[d] += box->range[d].step;
            return true;
        }
        point[d] = box->range[d].lo;
    }
    return false;
}

void pti_box_find_point(const polytile_domain *box, int64_t number, int64_t *point) {
    for (int d = box->n_dims - 1; d >= 0; d--) {
        const int64_t count = pti_range_count(box->range[d]);
        point[d] = box->range[d].lo + number % count * box->range[d].step;
        number /= count;
    }
}
