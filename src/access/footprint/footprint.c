#include "access/footprint/footprint.h"

#include "access/footprint/affine.h"
#include "access/footprint/indirection.h"
#include "base/checked.h"

/* Return the part of a range within first .. last. */
static polytile_range clip_ends(int64_t lo, int64_t hi, int64_t step, polytile_range whole) {
    if (step == 1)
        return (polytile_range){pti_max(lo, whole.lo), pti_min(hi, whole.hi), 1};
    if (lo < whole.lo)
        lo += pti_ceil_div(whole.lo - lo, step) * step;
    return pti_range(lo, pti_min(hi, whole.hi), step);
}

/* Return one dimension of a section's hull. An interval of fixed length, or a single element, has
 * no stride but what the indices give it. */
static polytile_range subscript_hull(const pti_subscript *subscript, const polytile_domain *threads,
                                     polytile_range whole) {
    int64_t lo = subscript->lo.constant, hi = subscript->hi.constant, stride = 0;
    bool is_single = lo == hi;
    for (int k = 0; k < threads->n_dims; k++) {
        int64_t a = subscript->lo.index[k], b = subscript->hi.index[k];
        int64_t first = threads->range[k].lo, last = threads->range[k].hi;
        if (a == 0 && b == 0)
            continue;
        lo += a * (a < 0 ? last : first);
        hi += b * (b < 0 ? first : last);
        is_single = is_single && a == b;
        if (a != 0 && first != last && stride != 1)
            stride = a == 1 ? 1 : pti_gcd(stride, a);
    }
    if (!is_single)
        stride = subscript->step == 1 ? 1 : pti_gcd(stride, subscript->step);
    return clip_ends(lo, hi, stride == 0 ? 1 : stride, whole);
}

/* Return one dimension of the hull of an interval of fixed length, or a single element, that
 * follows one index without gaps, or none. */
static polytile_range window_hull(const pti_section *section, int d, const polytile_domain *threads,
                                  polytile_range whole) {
    const pti_subscript *subscript = &section->subscript[d];
    int64_t lo = subscript->lo.constant, hi = subscript->hi.constant;
    int64_t stride = subscript->step;
    int k = section->followed[d];
    if (k < threads->n_dims) {
        int64_t a = subscript->lo.index[k];
        bool falls = a < 0;
        stride = lo == hi ? pti_abs(a) : stride;
        lo += a * (falls ? threads->range[k].hi : threads->range[k].lo);
        hi += a * (falls ? threads->range[k].lo : threads->range[k].hi);
    }
    return clip_ends(lo, hi, stride, whole);
}

static bool find_hull_in(const polytile_domain *array, const pti_section *section,
                         const polytile_domain *threads, polytile_domain *hull);

/* Find between which values those lie that threads look up for an end. Returns false if there are
 * none. */
static bool find_looked_up(const pti_looked_up *end, const polytile_domain *threads,
                           pti_value_range *values) {
    polytile_domain elements;
    *values = (pti_value_range){0, 0};
    if (end->array == NULL)
        return true;
    if (!find_hull_in(&end->array->domain, &end->section, threads, &elements))
        return false;
    *values = pti_index_array_find_values(end->array, elements.range[0]);
    return true;
}

/* Return one dimension of the hull of what is looked up. */
static polytile_range indirect_hull(const pti_indirection *indirection, int d,
                                    const polytile_domain *threads, polytile_range whole) {
    pti_value_range lo, hi;
    if (!find_looked_up(&indirection->lo[d], threads, &lo) ||
        !find_looked_up(&indirection->hi[d], threads, &hi))
        return pti_range_empty();
    return clip_ends(pti_affine_min(&indirection->lo[d].plus, threads) + lo.least,
                     pti_affine_max(&indirection->hi[d].plus, threads) + hi.most, 1, whole);
}

/* Find the hull of threads whose sections are not empty before clipping. If the array cuts all of
 * it off, returns false and leaves *hull unfinished. */
static bool find_full_hull(const polytile_domain *array, const pti_section *section,
                           const polytile_domain *threads, polytile_domain *hull) {
    hull->n_dims = section->n_dims;
    for (int d = 0; d < section->n_dims; d++) {
        hull->range[d] = section->is_box ? window_hull(section, d, threads, array->range[d])
                         : pti_section_is_indirect(section, d)
                             ? indirect_hull(section->indirection, d, threads, array->range[d])
                             : subscript_hull(&section->subscript[d], threads, array->range[d]);
        if (hull->range[d].hi < hull->range[d].lo)
            return false;
    }
    return true;
}

/* Find the hull of a section. If it touches nothing, returns false and leaves *hull unfinished. */
static bool find_hull_in(const polytile_domain *array, const pti_section *section,
                         const polytile_domain *threads, polytile_domain *hull) {
    if (!section->may_be_empty)
        return find_full_hull(array, section, threads, hull);
    polytile_domain touching = *threads;
    return pti_section_narrow(section, &touching) &&
           find_full_hull(array, section, &touching, hull);
}

static bool find_hull_of_section(const pti_instance *instance, const pti_section *section,
                                 const polytile_domain *threads, polytile_domain *hull) {
    return find_hull_in(pti_section_domain(instance, section), section, threads, hull);
}

polytile_domain pti_section_hull(const pti_instance *instance, const pti_section *section,
                                 const polytile_domain *threads) {
    polytile_domain hull;
    if (!find_hull_of_section(instance, section, threads, &hull))
        hull = pti_box_empty(section->n_dims);
    return hull;
}

bool pti_section_counts(const pti_section *section, pti_touch touch) {
    if (section->role == POLYTILE_SCRATCH)
        return touch == PTI_TOUCHES;
    if (touch == PTI_WRITES)
        return section->role != POLYTILE_IN;
    return touch == PTI_TOUCHES || (section->role != POLYTILE_OUT && !section->fresh);
}

/* Widen a non-empty box to hold another one. */
static void unite_with_box(polytile_domain *box, const polytile_domain *other) {
    for (int d = 0; d < box->n_dims; d++)
        box->range[d] = pti_range_coarse_union(box->range[d], other->range[d]);
}

bool pti_footprint_find_hull(const pti_instance *instance, int operand, pti_touch touch,
                             const polytile_domain *threads, polytile_domain *hull) {
    const pti_operand *touched = &instance->operand[operand];
    polytile_domain part;
    bool found = false;
    for (int s = 0; s < touched->n_sections; s++) {
        const pti_section *section = &instance->section[touched->first_section + s];
        if (touch != PTI_TOUCHES && !touched->partial && !pti_section_counts(section, touch))
            continue;
        if (!find_hull_of_section(instance, section, threads, found ? &part : hull))
            continue;
        if (found)
            unite_with_box(hull, &part);
        found = true;
    }
    if (!found)
        *hull = pti_box_empty(touched->domain.n_dims);
    return found;
}

polytile_domain pti_footprint_hull(const pti_instance *instance, int operand, pti_touch touch,
                                   const polytile_domain *threads) {
    polytile_domain hull;
    pti_footprint_find_hull(instance, operand, touch, threads, &hull);
    return hull;
}

/* Return whether a subscript of each thread has an element in a dimension of its array. A step may
 * pass over a part of that, unless the whole interval lies in it. */
static bool meets_everywhere(const pti_subscript *subscript, const polytile_domain *threads,
                             polytile_range whole) {
    const bool has_step = subscript->step != 1 && !pti_subscript_is_single(subscript);
    const pti_affine *last = has_step ? &subscript->hi : &subscript->lo;
    const pti_affine *first = has_step ? &subscript->lo : &subscript->hi;
    return whole.lo <= whole.hi && pti_affine_max(last, threads) <= whole.hi &&
           pti_affine_min(first, threads) >= whole.lo;
}

bool pti_footprint_is_everywhere(const pti_instance *instance, int operand,
                                 const polytile_domain *threads) {
    const pti_operand *touched = &instance->operand[operand];
    bool is_everywhere = false;
    for (int s = 0; s < touched->n_sections && !is_everywhere; s++) {
        const pti_section *section = &instance->section[touched->first_section + s];
        const polytile_domain *array = pti_section_domain(instance, section);
        is_everywhere = !section->may_be_empty;
        for (int d = 0; d < section->n_dims && is_everywhere; d++)
            is_everywhere = !pti_section_is_indirect(section, d) &&
                            meets_everywhere(&section->subscript[d], threads, array->range[d]);
    }
    return is_everywhere;
}

int64_t pti_footprint_least(const pti_instance *instance, int operand,
                            const polytile_domain *threads, const polytile_domain *hull) {
    const pti_operand *touched = &instance->operand[operand];
    int64_t least = 0;
    for (int d = 0; d < hull->n_dims; d++)
        if (hull->range[d].step != 1)
            return 0;
    for (int s = 0; s < touched->n_sections; s++) {
        const pti_section *section = &instance->section[touched->first_section + s];
        polytile_domain part;
        if (!section->is_box)
            return 0;
        if (find_hull_of_section(instance, section, threads, &part))
            least = pti_max(least, pti_box_count(&part));
    }
    return least;
}
