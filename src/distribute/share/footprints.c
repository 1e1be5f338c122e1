#include "distribute/share/footprints.h"

#include "access/footprint/affine.h"
#include "access/set/boxes.h"
#include "base/checked.h"

/* A section with more boxes than that is taken as larger boxes. */
enum { FEW_BOXES = 16 };

bool pti_footprint_gather(const pti_instance *instance, int operand, pti_touch touch,
                          const pti_boxes *threads, pti_boxes *touched) {
    pti_boxes part = {0};
    bool exact = !threads->failed;
    for (int b = 0; b < threads->n_boxes; b++) {
        exact = pti_footprint_boxes(instance, operand, touch, &threads->box[b], FEW_BOXES, &part) &&
                exact;
        pti_boxes_unite(touched, &part, pti_boxes_gather);
    }
    touched->failed = touched->failed || threads->failed;
    pti_boxes_free(&part);
    return exact && !touched->failed;
}

/** Of one section; what lies outside the array is left out. */
static polytile_domain span_of(const pti_section *section, const polytile_domain *array,
                               const polytile_domain *threads) {
    polytile_domain span = *array;
    for (int d = 0; d < span.n_dims; d++) {
        polytile_range *range = &span.range[d];
        range->lo = pti_max(range->lo, pti_affine_min(&section->subscript[d].lo, threads));
        range->hi = pti_min(range->hi, pti_affine_max(&section->subscript[d].hi, threads));
    }
    return span;
}

static bool has_steps(const pti_section *section) {
    bool has = false;
    for (int d = 0; d < section->n_dims; d++)
        has = has || section->subscript[d].step > 1;
    return has;
}

polytile_domain pti_footprint_stepped_span(const pti_instance *instance, int operand,
                                           const polytile_domain *threads) {
    const pti_operand *of = &instance->operand[operand];
    polytile_domain all = pti_box_empty(of->domain.n_dims);
    for (int s = 0; s < of->n_sections && !pti_box_is_empty(threads); s++) {
        const pti_section *section = &instance->section[of->first_section + s];
        if (!has_steps(section))
            continue;
        polytile_domain span = span_of(section, &of->domain, threads);
        all = pti_box_enclose(&all, &span);
    }
    return all;
}
