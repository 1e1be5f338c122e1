#include "access/bind/unite.h"

#include "access/footprint/affine.h"
#include "access/footprint/section.h"
#include "access/set/range.h"

#include <string.h>

static bool is_same_subscript(const pti_subscript *a, const pti_subscript *b) {
    return pti_affine_equals(&a->lo, &b->lo) && pti_affine_equals(&a->hi, &b->hi) &&
           a->step == b->step;
}

static bool has_fixed_width(const pti_subscript *subscript) {
    return pti_affine_is_parallel(&subscript->lo, &subscript->hi) &&
           subscript->lo.constant <= subscript->hi.constant;
}

/** Return the elements of a subscript of fixed width, from what moves with the thread on. */
static polytile_range range_of_subscript(const pti_subscript *subscript) {
    return pti_range(subscript->lo.constant, subscript->hi.constant, subscript->step);
}

/** Extend a subscript by another that moves with the thread as it does. False: they are no strided
 * interval together. */
static bool unite_subscripts(pti_subscript *one, const pti_subscript *other) {
    if (!has_fixed_width(one) || !has_fixed_width(other) ||
        !pti_affine_is_parallel(&one->lo, &other->lo))
        return false;
    polytile_range a = range_of_subscript(one), b = range_of_subscript(other),
                   both = pti_range_coarse_union(a, b);
    int64_t n_common = pti_range_count(pti_range_intersect(a, b));
    if (pti_range_count(both) != pti_range_count(a) + pti_range_count(b) - n_common)
        return false;
    one->lo.constant = both.lo;
    one->hi.constant = both.hi;
    one->step = both.step;
    return true;
}

/** Extend a section by another that differs from it along one dimension. */
static bool unite_pair(pti_section *one, const pti_section *other) {
    int differs = -1;
    if (one->role != other->role || one->fresh != other->fresh || !one->exact || !other->exact)
        return false;
    for (int d = 0; d < one->n_dims; d++) {
        if (is_same_subscript(&one->subscript[d], &other->subscript[d]))
            continue;
        if (differs >= 0)
            return false;
        differs = d;
    }
    if (differs >= 0 && !unite_subscripts(&one->subscript[differs], &other->subscript[differs]))
        return false;
    one->edges |= other->edges;
    return true;
}

/** Unite the first two sections of an operand that can be. */
static bool unite_any(pti_instance *instance, pti_operand *operand) {
    pti_section *section = &instance->section[operand->first_section];
    for (int s = 0; s < operand->n_sections; s++)
        for (int t = s + 1; t < operand->n_sections; t++)
            if (unite_pair(&section[s], &section[t])) {
                memmove(&section[t], &section[t + 1],
                        (size_t)(operand->n_sections - t - 1) * sizeof *section);
                operand->n_sections--;
                return true;
            }
    return false;
}

/** Unite the sections of an operand, and find out anew what it does. */
static polytile_status unite_operand(polytile_context *ctx, pti_instance *made, int o) {
    pti_operand *operand = &made->operand[o];
    polytile_status status = POLYTILE_OK;
    while (unite_any(made, operand))
        continue;
    for (int s = operand->first_section; s < operand->first_section + operand->n_sections; s++)
        PTI_TRY(pti_section_settle(ctx, made, &made->section[s]));
    pti_operand_forget_roles(operand);
    PTI_TRY(pti_operand_fill_roles(ctx, made, operand));
done:
    return status;
}

static bool has_partial(const pti_instance *instance) {
    bool has = false;
    for (int o = 0; o < instance->n_operands; o++)
        has |= instance->operand[o].partial && instance->operand[o].n_sections > 1;
    return has;
}

polytile_status pti_instance_unite_sections(polytile_context *ctx, pti_instance **instance) {
    pti_instance *made = NULL;
    polytile_status status = POLYTILE_OK;
    bool has_united = false;
    if (!has_partial(*instance))
        return POLYTILE_OK;
    PTI_TRY(pti_instance_copy_given(ctx, *instance, &made));
    for (int o = 0; o < made->n_operands; o++) {
        if (made->operand[o].partial)
            PTI_TRY(unite_operand(ctx, made, o));
        has_united |= made->operand[o].n_sections < (*instance)->operand[o].n_sections;
    }
    if (has_united) {
        made->given->is_united = (*instance)->given == NULL;
        pti_instance_own_given(made, instance);
        made = NULL;
    }
done:
    pti_instance_free(made);
    return status;
}
