#include "access/footprint/footprint.h"

#include "access/footprint/section_boxes.h"

static bool gather_boxes(const pti_instance *instance, const pti_operand *operand, pti_touch touch,
                         const polytile_domain *threads, int max_boxes, pti_boxes *boxes) {
    bool exact = true;
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        if (!pti_section_counts(section, touch))
            continue;
        exact = exact && section->exact;
        if (!pti_section_add_exact(instance, section, threads, max_boxes, boxes)) {
            pti_section_add_hulls(instance, section, threads, max_boxes, boxes);
            exact = false;
        }
    }
    pti_boxes_merge(boxes);
    return exact;
}

/* Return whether overlapping sections have cut each other into too many boxes. */
static bool is_shattered(const pti_operand *operand, int max_boxes, const pti_boxes *boxes) {
    int64_t worthwhile = (2 * operand->domain.n_dims + 1) * (int64_t)operand->n_sections;
    return boxes->n_boxes > worthwhile * max_boxes;
}

bool pti_footprint_boxes(const pti_instance *instance, int operand, pti_touch touch,
                         const polytile_domain *threads, int max_boxes, pti_boxes *boxes) {
    const pti_operand *touched = &instance->operand[operand];
    int limit =
        touch == PTI_WRITES && max_boxes < PTI_MAX_WRITE_BOXES ? PTI_MAX_WRITE_BOXES : max_boxes;
    pti_boxes_clear(boxes);
    bool exact = !touched->partial && gather_boxes(instance, touched, touch, threads, limit, boxes);
    if (touched->partial || (touch != PTI_WRITES && is_shattered(touched, limit, boxes))) {
        polytile_domain hull = pti_footprint_hull(instance, operand, touch, threads);
        pti_boxes_assign(boxes, &hull);
        return false;
    }
    return exact && !boxes->failed;
}
