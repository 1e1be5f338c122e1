#include "access/set/enclose.h"

#include "base/checked.h"

static polytile_domain without_steps(const polytile_domain *box) {
    polytile_domain whole = *box;
    for (int d = 0; d < box->n_dims; d++)
        whole.range[d].step = 1;
    return whole;
}

polytile_domain pti_enclose(const polytile_domain *a, const polytile_domain *b) {
    if (pti_box_is_empty(a))
        return without_steps(b);
    if (pti_box_is_empty(b))
        return without_steps(a);
    polytile_domain both = {.n_dims = a->n_dims};
    for (int d = 0; d < a->n_dims; d++)
        both.range[d] = (polytile_range){pti_min(a->range[d].lo, b->range[d].lo),
                                         pti_max(a->range[d].hi, b->range[d].hi), 1};
    return both;
}

polytile_domain pti_enclose_all(const pti_boxes *set, int n_dims) {
    polytile_domain hull = pti_box_empty(n_dims);
    for (int b = 0; b < set->n_boxes; b++)
        hull = pti_enclose(&hull, &set->box[b]);
    return hull;
}
