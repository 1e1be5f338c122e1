#include "access/pieces/shear.h"

#include "access/footprint/affine.h"
#include "access/footprint/section.h"
#include "base/checked.h"

#include <string.h>

/** Return whether an expression, constants aside, is another one times a slope. */
static bool is_multiple(const pti_affine *affine, const pti_affine *of, int64_t slope) {
    bool is = true;
    int64_t product;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        is = is && !pti_mul_overflows(slope, of->index[k], &product) && affine->index[k] == product;
    return is;
}

/** Return whether a constant times a slope stays within what indices may be. */
static bool is_slope_bounded(int64_t constant, int64_t slope) {
    int64_t product;
    return !pti_mul_overflows(pti_abs(constant), pti_abs(slope), &product) &&
           product <= PTI_INDEX_LIMIT;
}

/** Return the slope with which a subscript follows one that is a single element, negative where it
 * falls; 0: it does not. */
static int64_t slope_of(const pti_subscript *subscript, const pti_subscript *along) {
    int64_t slope = 0;
    if (!pti_subscript_is_single(along))
        return 0;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        if (along->lo.index[k] != 0)
            slope = subscript->lo.index[k] / along->lo.index[k];
    bool follows = slope != 0 && is_slope_bounded(along->lo.constant, slope) &&
                   is_multiple(&subscript->lo, &along->lo, slope) &&
                   is_multiple(&subscript->hi, &along->lo, slope);
    return follows ? slope : 0;
}

static const pti_section *sections_of(const pti_instance *instance, const pti_operand *operand) {
    return &instance->section[operand->first_section];
}

/** Return the slope with which a dimension follows another in all sections; 0: in not all. */
static int64_t common_slope(const pti_instance *instance, const pti_operand *operand, int d,
                            int along) {
    const pti_section *section = sections_of(instance, operand);
    int64_t slope = slope_of(&section->subscript[d], &section->subscript[along]);
    for (int s = 1; s < operand->n_sections; s++)
        if (slope_of(&section[s].subscript[d], &section[s].subscript[along]) != slope)
            return 0;
    return slope;
}

/** Return whether no other operand has an operand's array: others would count its elements by other
 * indices. */
static bool has_own_array(const pti_instance *instance, int operand) {
    bool has = true;
    for (int o = 0; o < instance->n_operands; o++)
        has = has && (o == operand ||
                      (pti_operand_array(instance, o) != pti_operand_array(instance, operand) &&
                       instance->operand[o].same_array != instance->operand[operand].same_array));
    return has;
}

static bool may_shear(const pti_instance *instance, int number) {
    const pti_operand *operand = &instance->operand[number];
    const pti_section *section = sections_of(instance, operand);
    bool may = !operand->is_scratch && !operand->reduces && operand->n_sections > 0 &&
               pti_box_equals(&operand->domain, &operand->whole) &&
               !pti_box_has_gaps(&operand->whole) && has_own_array(instance, number);
    for (int s = 0; s < operand->n_sections; s++)
        may = may && section[s].exact && !section[s].may_be_empty && section[s].edges == 0;
    return may;
}

/** Return whether another dimension follows this one. */
static bool is_followed(const pti_operand *operand, int d) {
    bool is = false;
    for (int e = 0; e < operand->domain.n_dims; e++)
        is |= operand->shear[e].slope != 0 && operand->shear[e].along == d;
    return is;
}

/** Find a dimension that one follows, and that follows none itself. */
static pti_shear find_shear(const pti_instance *instance, const pti_operand *operand, int d) {
    pti_shear found = {0, 0};
    for (int along = 0; along < operand->domain.n_dims && found.slope == 0; along++) {
        if (along == d || operand->shear[along].slope != 0)
            continue;
        int64_t slope = common_slope(instance, operand, d, along);
        if (is_slope_bounded(operand->domain.range[along].lo, slope) &&
            is_slope_bounded(operand->domain.range[along].hi, slope))
            found = (pti_shear){along, slope};
    }
    return found;
}

/** Find out which dimensions of an operand follow others. Returns whether any does. */
static bool find_shears(const pti_instance *instance, pti_operand *operand) {
    bool any = false;
    for (int d = operand->domain.n_dims - 1; d >= 0; d--) {
        if (!is_followed(operand, d))
            operand->shear[d] = find_shear(instance, operand, d);
        any |= operand->shear[d].slope != 0;
    }
    return any;
}

static void shear_subscript(pti_subscript *subscript, const pti_affine *along, int64_t slope) {
    pti_affine *ends[] = {&subscript->lo, &subscript->hi};
    for (int e = 0; e < 2; e++) {
        ends[e]->constant -= slope * along->constant;
        for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
            ends[e]->index[k] -= slope * along->index[k];
    }
}

/** Errors: OVERFLOW. */
static polytile_status shear_section(polytile_context *ctx, const pti_operand *operand,
                                     const pti_instance *instance, pti_section *section) {
    for (int d = 0; d < section->n_dims; d++) {
        const pti_shear *shear = &operand->shear[d];
        if (shear->slope != 0)
            shear_subscript(&section->subscript[d], &section->subscript[shear->along].lo,
                            shear->slope);
    }
    return pti_section_settle(ctx, instance, section);
}

/** Shear an operand whose dimensions are found, and make its domain the box around all that is
 * touched. Errors: OVERFLOW. */
static polytile_status shear_operand(polytile_context *ctx, pti_instance *instance,
                                     pti_operand *operand) {
    polytile_status status = POLYTILE_OK;
    operand->domain = pti_box_empty(operand->whole.n_dims);
    for (int s = 0; s < operand->n_sections; s++) {
        pti_section *section = &instance->section[operand->first_section + s];
        PTI_TRY(shear_section(ctx, operand, instance, section));
        const polytile_domain touched = pti_section_unclipped_hull(instance, section);
        operand->domain = pti_box_bounding(&operand->domain, &touched);
    }
    pti_operand_forget_roles(operand);
    PTI_TRY(pti_operand_fill_roles(ctx, instance, operand));
done:
    return status;
}

/** Make an operand of a copy what it was. Its sections are as many as they were. */
static void restore_operand(const pti_instance *instance, int operand, pti_instance *copy) {
    pti_operand *of = &copy->operand[operand];
    const pti_operand *former = &instance->operand[operand];
    char *const name = of->name;
    const int first_section = of->first_section;
    *of = *former;
    of->name = name;
    of->first_section = first_section;
    memcpy(&copy->section[first_section], sections_of(instance, former),
           (size_t)of->n_sections * sizeof *copy->section);
}

/** Shear an operand of a copy, or leave it as its instance has it. Errors: NO_MEMORY. */
static polytile_status try_operand(polytile_context *ctx, const pti_instance *instance, int operand,
                                   pti_instance *copy, bool *is_sheared) {
    pti_operand *of = &copy->operand[operand];
    polytile_status status = POLYTILE_OK;
    *is_sheared = may_shear(copy, operand) && find_shears(copy, of);
    if (!*is_sheared)
        return status;
    if (shear_operand(ctx, copy, of) != POLYTILE_OK) {
        pti_clear_error(ctx);
        *is_sheared = false;
    } else if (!pti_operand_has_sheared(of, &of->domain)) {
        PTI_TRY(pti_shear_clip_operand(ctx, copy, of, is_sheared));
    }
    if (!*is_sheared)
        restore_operand(instance, operand, copy);
done:
    return status;
}

polytile_status pti_instance_shear(polytile_context *ctx, const pti_instance *instance,
                                   pti_instance **sheared) {
    bool any = false;
    polytile_status status = POLYTILE_OK;
    *sheared = NULL;
    if (instance->given != NULL || instance->is_team)
        return status;
    PTI_TRY(pti_instance_copy(ctx, instance, sheared));
    for (int o = 0; o < instance->n_operands; o++) {
        bool is_sheared;
        PTI_TRY(try_operand(ctx, instance, o, *sheared, &is_sheared));
        any |= is_sheared;
    }
done:
    if (!any || status != POLYTILE_OK) {
        pti_instance_free(*sheared);
        *sheared = NULL;
    }
    return status;
}

bool pti_operand_is_sheared(const pti_operand *operand) {
    bool is = false;
    for (int d = 0; d < operand->domain.n_dims; d++)
        is |= operand->shear[d].slope != 0;
    return is;
}

const polytile_domain *pti_operand_array_domain(const pti_operand *operand) {
    return pti_operand_is_sheared(operand) ? &operand->whole : &operand->domain;
}

pti_memory_layout pti_operand_array_layout(const pti_operand *operand,
                                           const pti_memory_layout *array) {
    pti_memory_layout layout = *array;
    for (int d = 0; d < operand->domain.n_dims; d++) {
        const pti_shear *shear = &operand->shear[d];
        if (shear->slope == 0)
            continue;
        const int64_t first = shear->slope * array->hull.range[shear->along].lo;
        layout.hull.range[d].lo -= first;
        layout.hull.range[d].hi -= first;
        layout.stride_bytes[shear->along] += pti_mul_wrapped(shear->slope, array->stride_bytes[d]);
    }
    return layout;
}

pti_runs pti_operand_runs(const pti_operand *operand, const polytile_domain *box) {
    const int last = operand->domain.n_dims - 1;
    if (!pti_operand_is_sheared(operand))
        return pti_runs_of(&operand->domain, box, operand->element_bytes);
    const bool is_side_by_side = !is_followed(operand, last) && box->range[last].step == 1;
    pti_runs runs = {operand->element_bytes, INT64_MAX};
    runs.run_bytes *= is_side_by_side ? pti_range_count(box->range[last]) : 1;
    pti_mul_overflows(operand->element_bytes, pti_range_count(operand->whole.range[last]),
                      &runs.pitch_bytes);
    return runs;
}

void pti_operand_unshear_strides(const pti_operand *operand, int64_t *stride_bytes) {
    for (int d = 0; d < operand->domain.n_dims; d++) {
        const pti_shear *shear = &operand->shear[d];
        if (shear->slope != 0)
            stride_bytes[shear->along] -= pti_mul_wrapped(shear->slope, stride_bytes[d]);
    }
}
