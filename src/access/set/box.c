#include "access/set/boxes.h"

#include "base/checked.h"

bool pti_box_equals(const polytile_domain *a, const polytile_domain *b) {
    if (pti_box_is_empty(a) || pti_box_is_empty(b))
        return pti_box_is_empty(a) && pti_box_is_empty(b);
    for (int d = 0; d < a->n_dims; d++)
        if (!pti_range_equals(a->range[d], b->range[d]))
            return false;
    return true;
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
        common->range[d] = (polytile_range){0, -1, 1};
    return meets;
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

polytile_domain pti_box_empty(int n_dims) {
    polytile_domain box = {.n_dims = n_dims};
    for (int d = 0; d < n_dims; d++)
        box.range[d] = (polytile_range){0, -1, 1};
    return box;
}
