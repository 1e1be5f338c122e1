#include "access/footprint/affine.h"

#include "base/checked.h"

bool pti_affine_narrow(const pti_affine *affine, polytile_domain *threads) {
    int64_t most = pti_affine_max(affine, threads);
    if (most < 0)
        return false;
    for (int k = 0; k < threads->n_dims; k++) {
        int64_t slope = affine->index[k];
        polytile_range *range = &threads->range[k];
        if (slope > 0)
            range->lo = pti_max(range->lo, range->hi - most / slope);
        if (slope < 0)
            range->hi = pti_min(range->hi, range->lo + most / -slope);
    }
    return true;
}

static bool may_hold_elements(const pti_section *section, const polytile_domain *threads) {
    bool may = true;
    for (int d = 0; d < section->n_dims && may; d++) {
        pti_affine width = pti_subscript_width(&section->subscript[d]);
        may = pti_affine_max(&width, threads) >= 0;
    }
    return may;
}

/* Repeats the dimensions: what one leaves of the threads may be empty for an earlier one. */
bool pti_section_narrow(const pti_section *section, polytile_domain *threads) {
    for (int d = 0; d < section->n_dims; d++) {
        pti_affine width = pti_subscript_width(&section->subscript[d]);
        if (!pti_affine_narrow(&width, threads))
            return false;
    }
    return may_hold_elements(section, threads);
}
