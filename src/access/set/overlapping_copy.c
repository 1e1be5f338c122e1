#include "access/set/overlapping_copy.h"

#include "base/checked.h"

#include <stdlib.h>

/** Return whether equal distances in a dimension are equal distances in memory. */
static bool is_dimension_alike(const pti_memory_layout *a, const pti_memory_layout *b, int dim) {
    polytile_range of_a = a->hull.range[dim], of_b = b->hull.range[dim];
    if (of_a.lo == of_a.hi && of_b.lo == of_b.hi)
        return true;
    return of_a.step == of_b.step && a->stride_bytes[dim] == b->stride_bytes[dim];
}

bool pti_overlapping_begin(const pti_memory_layout *from, const pti_memory_layout *to,
                           const polytile_domain *box, pti_overlapping_copy *slices) {
    int n_moving = 0;
    *slices = (pti_overlapping_copy){.n_at_once = 0};
    for (int d = 0; d < box->n_dims; d++) {
        int64_t distance = to->hull.range[d].lo - from->hull.range[d].lo;
        if (!is_dimension_alike(from, to, d) || distance % from->hull.range[d].step != 0)
            return false;
        if (distance == 0)
            continue;
        n_moving++;
        *slices =
            (pti_overlapping_copy){.left = *box,
                                   .dim = d,
                                   .n_at_once = pti_ceil_div(llabs(distance), box->range[d].step),
                                   .is_rising = distance > 0};
    }
    return n_moving <= 1;
}

pti_overlapping_copy pti_overlapping_whole(const polytile_domain *box) {
    return (pti_overlapping_copy){
        .left = *box, .n_at_once = pti_range_count(box->range[0]), .is_rising = true};
}

bool pti_overlapping_next(pti_overlapping_copy *slices, polytile_domain *slice) {
    polytile_range *left = &slices->left.range[slices->dim];
    if (slices->n_at_once == 0 || pti_box_is_empty(&slices->left))
        return false;
    int64_t n_elements = pti_min(slices->n_at_once, pti_range_count(*left));
    int64_t length = (n_elements - 1) * left->step;
    *slice = slices->left;
    if (slices->is_rising) {
        slice->range[slices->dim].hi = left->lo + length;
        left->lo += length + left->step;
    } else {
        slice->range[slices->dim].lo = left->hi - length;
        left->hi -= length + left->step;
    }
    return true;
}
