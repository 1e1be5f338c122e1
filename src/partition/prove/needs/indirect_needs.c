#include "partition/prove/needs/indirect_needs.h"

#include "access/footprint/indirection.h"
#include "base/checked.h"

static int64_t value_for(const pti_affine *affine, const int64_t *thread, int n_indices) {
    int64_t value = affine->constant;
    for (int k = 0; k < n_indices; k++)
        value += affine->index[k] * thread[k];
    return value;
}

/** What one thread touches through a section: a box around it, which of a section that looks
 * nothing up holds nothing else. False: nothing. */
static bool find_of_thread(const pti_section *section, const polytile_domain *array,
                           const int64_t *thread, int n_indices, polytile_domain *box);

/** The least and the most of an end for one thread; false: it has none. */
static bool find_least_and_most(const pti_looked_up *end, const int64_t *thread, int n_indices,
                                int64_t *least, int64_t *most) {
    const int64_t plus = value_for(&end->plus, thread, n_indices);
    polytile_domain elements;
    int64_t element[POLYTILE_MAX_DIMS];
    *least = *most = plus;
    if (end->array == NULL)
        return true;
    if (!find_of_thread(&end->section, &end->array->domain, thread, n_indices, &elements))
        return false;
    for (int d = 0; d < elements.n_dims; d++)
        element[d] = elements.range[d].lo;
    *least = *most = plus + pti_index_array_get(end->array, element);
    while (pti_box_next_point(&elements, element)) {
        const int64_t value = plus + pti_index_array_get(end->array, element);
        *least = pti_min(*least, value);
        *most = pti_max(*most, value);
    }
    return true;
}

static bool find_range(const pti_section *section, int d, const int64_t *thread, int n_indices,
                       polytile_range *range) {
    const pti_subscript *subscript = &section->subscript[d];
    const pti_indirection *by = section->indirection;
    int64_t least = 0, most = 0, ignored;
    if (!pti_section_is_indirect(section, d)) {
        *range = pti_range(value_for(&subscript->lo, thread, n_indices),
                           value_for(&subscript->hi, thread, n_indices), subscript->step);
        return !pti_range_is_empty(*range);
    }
    if (!find_least_and_most(&by->lo[d], thread, n_indices, &least, &ignored) ||
        !find_least_and_most(&by->hi[d], thread, n_indices, &ignored, &most))
        return false;
    *range = pti_range(least, most, 1);
    return least <= most;
}

static bool find_of_thread(const pti_section *section, const polytile_domain *array,
                           const int64_t *thread, int n_indices, polytile_domain *box) {
    box->n_dims = section->n_dims;
    for (int d = 0; d < section->n_dims; d++) {
        if (!find_range(section, d, thread, n_indices, &box->range[d]))
            return false;
        box->range[d] = pti_range_intersect(box->range[d], array->range[d]);
        if (pti_range_is_empty(box->range[d]))
            return false;
    }
    return true;
}

void pti_indirect_needs_hull(const pti_section *section, const polytile_domain *array,
                             const polytile_domain *threads, polytile_domain *hull) {
    int64_t thread[POLYTILE_MAX_DIMS];
    *hull = pti_box_empty(section->n_dims);
    for (int k = 0; k < threads->n_dims; k++)
        thread[k] = threads->range[k].lo;
    do {
        polytile_domain touched;
        if (find_of_thread(section, array, thread, threads->n_dims, &touched))
            *hull = pti_box_coarse_union(hull, &touched);
    } while (pti_box_next_point(threads, thread));
}

/** The only dimension in which a section gathers; -1: there is none. */
static int find_gathered(const pti_section *section) {
    int n_found = 0, found = -1;
    for (int d = 0; d < section->n_dims; d++)
        if (pti_section_is_indirect(section, d) && section->indirection->gathers[d]) {
            n_found++;
            found = d;
        }
    return n_found == 1 ? found : -1;
}

/** Return whether each element that one thread gathers is there. box: around them; *missing becomes
 * one. */
static bool is_gathered_there(const pti_section *section, int dim, const int64_t *thread,
                              int n_indices, const polytile_domain *box, const pti_boxes *there,
                              polytile_domain *missing) {
    const pti_looked_up *end = &section->indirection->lo[dim];
    const int64_t plus = value_for(&end->plus, thread, n_indices);
    polytile_domain elements;
    int64_t element[POLYTILE_MAX_DIMS];
    *missing = *box;
    if (!find_of_thread(&end->section, &end->array->domain, thread, n_indices, &elements))
        return true;
    for (int d = 0; d < elements.n_dims; d++)
        element[d] = elements.range[d].lo;
    do {
        const int64_t index = plus + pti_index_array_get(end->array, element);
        missing->range[dim] = pti_range(index, index, 1);
        if (!pti_boxes_cover(there, missing))
            return false;
    } while (pti_box_next_point(&elements, element));
    return true;
}

static bool is_thread_covered(const pti_section *section, const polytile_domain *array,
                              const int64_t *thread, int n_indices, const pti_boxes *there,
                              polytile_domain *missing) {
    const int dim = find_gathered(section);
    polytile_domain box;
    if (!find_of_thread(section, array, thread, n_indices, &box) || pti_boxes_cover(there, &box))
        return true;
    *missing = box;
    return dim >= 0 && is_gathered_there(section, dim, thread, n_indices, &box, there, missing);
}

bool pti_indirect_needs_covered(const pti_section *section, const polytile_domain *array,
                                const polytile_domain *threads, const pti_boxes *there,
                                polytile_domain *missing) {
    int64_t thread[POLYTILE_MAX_DIMS];
    for (int k = 0; k < threads->n_dims; k++)
        thread[k] = threads->range[k].lo;
    do
        if (!is_thread_covered(section, array, thread, threads->n_dims, there, missing))
            return false;
    while (pti_box_next_point(threads, thread));
    return true;
}

const pti_indirection *pti_needs_in_band(const pti_instance *instance, const pti_section *section) {
    const pti_inspection *inspection = instance->inspection;
    return inspection == NULL || section->indirection != NULL ||
                   section->access >= inspection->n_accesses
               ? NULL
               : inspection->indirection[section->access];
}
