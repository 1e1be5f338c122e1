#include "access/footprint/footprint.h"

#include "access/footprint/affine.h"
#include "access/footprint/indirection.h"
#include "base/checked.h"

/* How an operand's footprint follows the threads, from its coefficients alone. */

/* Return 0 if dimension d of a section follows nothing, 1 if it follows index d one for one, else
 * -1. */
static int count_followed(const pti_section *section, int d) {
    const pti_subscript *subscript = &section->subscript[d];
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++) {
        int64_t a = subscript->lo.index[k];
        if (a != subscript->hi.index[k] || (a != 0 && (k != d || a != 1)))
            return -1;
    }
    return (int)subscript->lo.index[d];
}

bool pti_operand_is_regular(const pti_instance *instance, int operand) {
    const pti_operand *touched = &instance->operand[operand];
    const pti_section *sections = &instance->section[touched->first_section];
    for (int s = 0; s < touched->n_sections; s++)
        for (int d = 0; d < touched->domain.n_dims; d++)
            if (sections[s].indirection != NULL || count_followed(&sections[s], d) < 0 ||
                count_followed(&sections[s], d) != count_followed(sections, d))
                return false;
    return true;
}

bool pti_operand_overwrites_hull(const pti_instance *instance, int operand) {
    const pti_operand *is = &instance->operand[operand];
    const pti_section *section = &instance->section[is->first_section];
    return is->n_sections == 1 && !is->partial && section->role == POLYTILE_OUT && section->exact &&
           section->is_box;
}

bool pti_operand_depends(const pti_instance *instance, int operand, int index) {
    const pti_operand *touched = &instance->operand[operand];
    for (int s = 0; s < touched->n_sections; s++) {
        const pti_section *section = &instance->section[touched->first_section + s];
        for (int d = 0; d < section->n_dims; d++)
            if (pti_subscript_names(&section->subscript[d], index))
                return true;
        if (pti_section_looks_up_by(section, index))
            return true;
    }
    return false;
}

/* Return whether a >= b for every thread; of equal ones the earlier is larger. */
static bool is_above(const pti_instance *instance, const pti_affine *a, const pti_affine *b,
                     bool a_is_later) {
    pti_affine above = pti_affine_difference(a, b);
    int64_t least = pti_affine_min(&above, &instance->threads);
    if (least > 0 || !a_is_later)
        return least >= 0;
    return least == 0 && pti_affine_max(&above, &instance->threads) > 0;
}

/* Return whether another section, never empty, reaches as far down (or up) in dimension d. */
static bool another_section_reaches(const pti_instance *instance, const pti_operand *operand, int s,
                                    int d, bool upwards) {
    const pti_section *sections = &instance->section[operand->first_section];
    for (int t = 0; t < operand->n_sections; t++) {
        const pti_subscript *mine = &sections[s].subscript[d], *its = &sections[t].subscript[d];
        bool covered = upwards ? is_above(instance, &its->hi, &mine->hi, t > s)
                               : is_above(instance, &mine->lo, &its->lo, t > s);
        if (t != s && covered && !sections[t].may_be_empty)
            return true;
    }
    return false;
}

/* How fast an end of the hull can move in dimension d as a box moves up along an index. */
typedef struct speeds {
    int64_t least;
    int64_t most;
} speeds;

static speeds find_speeds(const pti_instance *instance, const pti_operand *operand, int d,
                          int index, bool upwards) {
    speeds found = {INT64_MAX, INT64_MIN};
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        const pti_subscript *subscript = &section->subscript[d];
        int64_t speed = upwards ? subscript->hi.index[index] : subscript->lo.index[index];
        if (another_section_reaches(instance, operand, s, d, upwards))
            continue;
        found.least = pti_min(found.least, speed);
        found.most = pti_max(found.most, speed);
    }
    return found;
}

/* Return whether a subscript's last element may lie before hi, at a distance that changes with
 * threads. */
static bool has_loose_end(const pti_subscript *subscript) {
    return subscript->step > 1 && !pti_affine_is_parallel(&subscript->lo, &subscript->hi);
}

/* Return whether the hull's lattice in dimension d stays along an index: no end is loose, and all
 * sections keep their lengths and move alike, or one is always a run of neighbours. */
static bool keeps_lattice(const pti_instance *instance, const pti_operand *operand, int d,
                          int index) {
    const pti_section *sections = &instance->section[operand->first_section];
    bool alike = true, has_run = false, loose = false;
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_subscript *subscript = &sections[s].subscript[d];
        pti_affine width = pti_subscript_width(subscript);
        loose = loose || has_loose_end(subscript);
        alike = alike && pti_affine_is_parallel(&subscript->lo, &subscript->hi) &&
                subscript->lo.index[index] == sections[0].subscript[d].lo.index[index] &&
                !sections[s].may_be_empty;
        has_run =
            has_run || (subscript->step == 1 && pti_affine_min(&width, &instance->threads) > 0 &&
                        !sections[s].may_be_empty);
    }
    return operand->n_sections == 1 || (!loose && (has_run || alike));
}

/* Return how the hull's length in dimension d changes as a box moves up along an index. */
static pti_trend dimension_trend(const pti_instance *instance, const pti_operand *operand, int d,
                                 int index) {
    speeds lo = find_speeds(instance, operand, d, index, false);
    speeds hi = find_speeds(instance, operand, d, index, true);
    if (!keeps_lattice(instance, operand, d, index))
        return PTI_MIXED;
    if (lo.least == hi.most && lo.most == hi.least)
        return PTI_CONSTANT;
    if (hi.least >= lo.most)
        return PTI_RISING;
    return hi.most <= lo.least ? PTI_FALLING : PTI_MIXED;
}

/* Return the trend of a product from those of its factors. */
static pti_trend combine_trends(pti_trend a, pti_trend b) {
    if (a == PTI_CONSTANT || a == b)
        return b;
    return b == PTI_CONSTANT ? a : PTI_MIXED;
}

/* Return the trend of a section that is empty for some threads: the hull grows where it appears
 * along an index, and shrinks where it vanishes. */
static pti_trend appearance_trend(const pti_section *section, int index) {
    pti_trend trend = PTI_CONSTANT;
    for (int d = 0; section->may_be_empty && d < section->n_dims; d++) {
        int64_t growth =
            section->subscript[d].hi.index[index] - section->subscript[d].lo.index[index];
        if (growth != 0)
            trend = combine_trends(trend, growth > 0 ? PTI_RISING : PTI_FALLING);
    }
    return trend;
}

/** Return whether a section has elements for some values of an index alone: of one with an edge the
 * array cuts off what the others would have. */
static bool comes_and_goes(const pti_section *section, int index) {
    bool does = false;
    for (int d = 0; d < section->n_dims; d++)
        does = does || ((section->edges >> d & 1) != 0 &&
                        pti_subscript_names(&section->subscript[d], index));
    return does;
}

static pti_trend trend_of(const pti_instance *instance, const pti_operand *touched, int index,
                          bool with_edges) {
    for (int s = 0; s < touched->n_sections; s++) {
        const pti_section *section = &instance->section[touched->first_section + s];
        if ((with_edges && comes_and_goes(section, index)) ||
            pti_section_looks_up_by(section, index))
            return PTI_MIXED;
    }
    pti_trend trend = PTI_CONSTANT;
    for (int d = 0; d < touched->domain.n_dims; d++)
        trend = combine_trends(trend, dimension_trend(instance, touched, d, index));
    for (int s = 0; s < touched->n_sections; s++)
        trend = combine_trends(
            trend, appearance_trend(&instance->section[touched->first_section + s], index));
    return trend;
}

pti_trend pti_operand_trend(const pti_instance *instance, int operand, int index) {
    return trend_of(instance, &instance->operand[operand], index, true);
}

pti_trend pti_operand_trend_within_edges(const pti_instance *instance, int operand, int index) {
    return trend_of(instance, &instance->operand[operand], index, false);
}

/** Return an expression without one of its indices. */
static pti_affine without_index(pti_affine affine, int index) {
    affine.index[index] = 0;
    return affine;
}

/** Return whether a dimension alone separates threads with different values of an index: those of
 * one value reach less than the step to the next. */
static bool dimension_separates(const pti_instance *instance, const pti_operand *operand, int index,
                                int dim) {
    const pti_section *section = &instance->section[operand->first_section];
    int64_t step = section->subscript[dim].lo.index[index];
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_subscript *subscript = &section[s].subscript[dim];
        if (subscript->lo.index[index] != step || subscript->hi.index[index] != step)
            return false;
        pti_affine lo = without_index(subscript->lo, index),
                   hi = without_index(subscript->hi, index);
        first = pti_min(first, pti_affine_min(&lo, &instance->threads));
        last = pti_max(last, pti_affine_max(&hi, &instance->threads));
    }
    return last - first < pti_abs(step);
}

bool pti_operand_lies_apart(const pti_instance *instance, int operand, int index) {
    const pti_operand *is = &instance->operand[operand];
    for (int d = 0; d < is->domain.n_dims; d++)
        if (dimension_separates(instance, is, index, d))
            return true;
    return false;
}
