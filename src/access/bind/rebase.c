#include "access/bind/rebase.h"

#include "access/array/array.h"
#include "access/footprint/affine.h"
#include "access/footprint/indirection.h"
#include "access/footprint/section.h"
#include "access/set/box.h"
#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

/** The elements of a base's dimension that dimensions of a view reach, one by one from the inner
 * one on: lo, lo + step, ... up to hi. */
typedef struct merged {
    pti_subscript subscript;
    bool has_several; /* dimensions that were added reach several elements */
    bool is_fixed;    /* and always as many */
    int64_t length;   /* if so: hi - lo */
    bool is_exact;
} merged;

/** Add factor * b to a. False: it exceeds 64 bits. */
static bool add_multiple(pti_affine *a, int64_t factor, const pti_affine *b) {
    int64_t term;
    bool fits = !pti_mul_overflows(factor, b->constant, &term) &&
                !pti_add_overflows(a->constant, term, &a->constant);
    for (int k = 0; k < POLYTILE_MAX_DIMS && fits; k++)
        fits = !pti_mul_overflows(factor, b->index[k], &term) &&
               !pti_add_overflows(a->index[k], term, &a->index[k]);
    return fits;
}

/** Note that a dimension reaches several elements, `step` apart in the base. Together with those
 * within they are an interval if it goes on where these end. */
static void widen_merged(merged *of, const pti_subscript *by, int64_t factor, int64_t step) {
    pti_affine width = pti_subscript_width(by);
    bool is_parallel = pti_affine_is_parallel(&by->lo, &by->hi);
    bool goes_on = of->is_fixed && width.constant >= 0 && step == of->length + of->subscript.step;
    if (!of->has_several) {
        of->subscript.step = step;
        of->length = 0;
    } else if (!goes_on || !is_parallel) {
        of->subscript.step = pti_gcd(of->subscript.step, step);
        of->is_exact = false;
    }
    of->is_fixed = is_parallel && of->is_exact;
    of->length += factor * width.constant;
    of->has_several = true;
}

/** Add a dimension of the view. False: a number exceeds 64 bits. */
static bool add_view_dimension(merged *of, const pti_subscript *by, int64_t factor) {
    int64_t step, length;
    bool fits = add_multiple(&of->subscript.lo, factor, &by->lo) &&
                add_multiple(&of->subscript.hi, factor, &by->hi) &&
                !pti_mul_overflows(factor, by->step, &step) &&
                !pti_mul_overflows(factor, pti_subscript_width(by).constant, &length);
    if (fits && !pti_subscript_is_single(by))
        widen_merged(of, by, factor, step);
    return fits;
}

/** Return the view's dimension with the least coefficient above one, of those that a base's
 * dimension has; -1: none is left. */
static int next_outer(const pti_index_map *map, int d, int64_t above) {
    int found = -1;
    for (int k = 0; k < map->n_from; k++) {
        int64_t coefficient = map->coefficient[d][k];
        if (coefficient > above && (found < 0 || coefficient < map->coefficient[d][found]))
            found = k;
    }
    return found;
}

static bool merge_dimensions(const pti_section *section, const pti_index_map *map, int d,
                             merged *of) {
    bool fits = true;
    *of = (merged){.subscript = {.lo = {.constant = map->constant[d]},
                                 .hi = {.constant = map->constant[d]},
                                 .step = 1},
                   .is_exact = true};
    for (int k = next_outer(map, d, 0); k >= 0 && fits;
         k = next_outer(map, d, map->coefficient[d][k]))
        fits = add_view_dimension(of, &section->subscript[k], map->coefficient[d][k]);
    return fits;
}

/** Return whether all threads stay within a dimension of a view, so that it clips nothing. */
static bool stays_inside(const pti_subscript *subscript, polytile_range whole,
                         const polytile_domain *threads) {
    return pti_affine_min(&subscript->lo, threads) >= whole.lo &&
           pti_affine_max(&subscript->hi, threads) <= whole.hi;
}

/** Return whether a view's dimension is one of its base, whole: then both clip alike. */
static bool is_whole_dimension(const pti_index_map *map, int k, polytile_range of_view,
                               const polytile_domain *base) {
    for (int d = 0; d < map->n_to; d++)
        if (map->coefficient[d][k] == 1 && map->constant[d] == 0 && next_outer(map, d, 0) == k &&
            next_outer(map, d, 1) < 0)
            return pti_range_equals(of_view, base->range[d]);
    return false;
}

/** Return whether an array view clips a section where its base would not clip it alike. */
static bool is_clipped_by_view(const pti_instance *given, const pti_section *section,
                               const pti_index_map *map, const polytile_domain *base) {
    const polytile_domain *view = &given->operand[section->operand].domain;
    bool is_clipped = false;
    for (int k = 0; k < section->n_dims; k++)
        is_clipped |= !stays_inside(&section->subscript[k], view->range[k], &given->threads) &&
                      !is_whole_dimension(map, k, view->range[k], base);
    return is_clipped;
}

/** Return whether a subscript names indices of a strided range alone. */
static bool is_on_lattice(const pti_subscript *subscript, polytile_range range) {
    bool is = (subscript->lo.constant - range.lo) % range.step == 0 &&
              (pti_subscript_is_single(subscript) || subscript->step % range.step == 0);
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        is = is && subscript->lo.index[k] % range.step == 0;
    return is;
}

static polytile_status check_lattice(polytile_context *ctx, const pti_instance *given,
                                     const pti_section *section, const polytile_array *array) {
    const pti_operand *operand = &given->operand[section->operand];
    for (int k = 0; k < section->n_dims; k++) {
        polytile_range range = operand->domain.range[k];
        if (pti_range_has_gaps(range) && !is_on_lattice(&section->subscript[k], range))
            return pti_fail(ctx, POLYTILE_DECLARATION,
                            "%s: subscript %d of %s names indices between those of array %s, which "
                            "are %" PRId64 ":%" PRId64 ":%" PRId64
                            "; name every such index or some of them, or : for all",
                            given->kernel_name, k, operand->name, array->name, range.lo, range.hi,
                            range.step);
    }
    return POLYTILE_OK;
}

/** Rewrite one section. */
static polytile_status rebase_section(polytile_context *ctx, const pti_instance *given,
                                      const polytile_array *array, const pti_index_map *map,
                                      const pti_instance *made, pti_section *section) {
    const pti_section as_given = *section;
    const polytile_domain *base = &made->operand[section->operand].domain;
    polytile_status status;
    PTI_TRY(check_lattice(ctx, given, &as_given, array));
    section->n_dims = map->n_to;
    section->edges = section->edges == 0 ? 0 : (1u << map->n_to) - 1;
    section->exact &= !is_clipped_by_view(given, &as_given, map, base);
    for (int d = 0; d < map->n_to; d++) {
        merged of;
        if (!merge_dimensions(&as_given, map, d, &of))
            PTI_TRY(
                pti_fail(ctx, POLYTILE_OVERFLOW,
                         "%s: what it touches of array %s exceeds 64 bits; use a smaller launch "
                         "domain",
                         given->kernel_name, array->name));
        section->subscript[d] = of.subscript;
        section->exact &= of.is_exact;
    }
    PTI_TRY(pti_section_settle(ctx, made, section));
done:
    return status;
}

/** Let an operand be of the array that has its elements; what it does with that is found anew. */
static void take_array(const polytile_array *planned, const pti_operand *from, pti_operand *to) {
    *to = (pti_operand){.name = to->name,
                        .array = from->array,
                        .same_array = to->same_array,
                        .type = planned->type,
                        .element_bytes = planned->element_bytes,
                        .domain = planned->domain,
                        .whole = planned->domain,
                        .first_section = from->first_section,
                        .n_sections = from->n_sections};
}

/** Rewrite an operand that was given as a view into one of the planned array. */
static polytile_status rebase_operand(polytile_context *ctx, const polytile_array *given,
                                      const polytile_array *planned, const pti_instance *as_given,
                                      pti_instance *made, int o) {
    pti_operand *operand = &made->operand[o];
    pti_index_map *map = &made->given->map[o];
    polytile_status status = POLYTILE_OK;
    if (given == planned)
        return POLYTILE_OK;
    if (!pti_array_map_to(given, planned, map))
        return pti_fail(
            ctx, POLYTILE_INVALID,
            "%s: array %s is a view of %s that joins some of its dimensions, whose elements "
            "cannot be told from those of other views; attach %s itself, and let views of "
            "it split what is to be split",
            made->kernel_name, given->name, planned->name, given->name);
    take_array(planned, &as_given->operand[o], operand);
    for (int s = operand->first_section; s < operand->first_section + operand->n_sections; s++)
        PTI_TRY(rebase_section(ctx, as_given, given, map, made, &made->section[s]));
    PTI_TRY(pti_operand_fill_roles(ctx, made, operand));
done:
    return status;
}

/** Refuse a view beside another name of its base where one is written: that their elements differ
 * was proved for arrays, not for what the views are of. */
static polytile_status check_pair(polytile_context *ctx, const pti_instance *made,
                                  polytile_array *const *given, polytile_array *const *planned,
                                  int one, int other) {
    const pti_operand *a = &made->operand[one], *b = &made->operand[other];
    if (a->same_array != b->same_array || (!a->writes && !b->writes) ||
        (given[one] == planned[one] && given[other] == planned[other]))
        return POLYTILE_OK;
    return pti_fail(
        ctx, POLYTILE_INVALID,
        "%s: arrays %s and %s, given for %s and %s, of which one is written, have their "
        "elements in one array, %s; give arrays of their own, or that one for both",
        made->kernel_name, given[one]->name, given[other]->name, a->name, b->name,
        planned[one]->name);
}

static polytile_status check_pairs(polytile_context *ctx, const pti_instance *made,
                                   polytile_array *const *given, polytile_array *const *planned) {
    polytile_status status = POLYTILE_OK;
    for (int one = 0; one < made->n_operands; one++)
        for (int other = one + 1; other < made->n_operands; other++)
            PTI_TRY(check_pair(ctx, made, given, planned, one, other));
done:
    return status;
}

/** The slots of a team get arrays as they are. */
static polytile_status check_team(polytile_context *ctx, const pti_instance *made,
                                  polytile_array *const *given, polytile_array *const *planned) {
    int o = 0;
    while (given[o] == planned[o])
        o++;
    if (!made->is_team)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                    "%s: array %s is a view of %s, and a team kernel gets no views; give it %s",
                    made->kernel_name, given[o]->name, planned[o]->name, planned[o]->name);
}

/** What index arrays hold are indices of the arrays that are given. */
static polytile_status check_indirect(polytile_context *ctx, const pti_instance *made,
                                      polytile_array *const *given,
                                      polytile_array *const *planned) {
    for (int o = 0; o < made->n_operands && made->inspection != NULL; o++) {
        const pti_operand *operand = &made->operand[o];
        bool is = made->inspection->array[o] != NULL;
        for (int s = 0; s < operand->n_sections; s++)
            is = is || made->section[operand->first_section + s].indirection != NULL;
        if (is && given[o] != planned[o])
            return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                            "%s: array %s is a view of %s, and index arrays and what they look up "
                            "are no views; give %s, or an array of its own",
                            made->kernel_name, given[o]->name, planned[o]->name, planned[o]->name);
    }
    return POLYTILE_OK;
}

/** Rewrite all operands of a copy of an instance. */
static polytile_status rebase_all(polytile_context *ctx, polytile_array *const *given,
                                  polytile_array *const *planned, const pti_instance *as_given,
                                  pti_instance *made) {
    polytile_status status = POLYTILE_OK;
    PTI_TRY(check_team(ctx, made, given, planned));
    PTI_TRY(check_indirect(ctx, made, given, planned));
    for (int o = 0; o < made->n_operands; o++) {
        if (!made->operand[o].is_scratch)
            made->operand[o].same_array = pti_first_with_array(planned, o);
        PTI_TRY(rebase_operand(ctx, given[o], planned[o], as_given, made, o));
    }
    PTI_TRY(check_pairs(ctx, made, given, planned));
done:
    return status;
}

polytile_status pti_instance_rebase(polytile_context *ctx, polytile_array *const *given,
                                    polytile_array *const *planned, pti_instance **instance) {
    const int n_operands = (*instance)->n_operands;
    pti_instance *made = NULL;
    polytile_status status = POLYTILE_OK;
    if (memcmp(given, planned, (size_t)n_operands * sizeof *given) == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_instance_copy_given(ctx, *instance, &made));
    PTI_TRY(rebase_all(ctx, given, planned, *instance, made));
    pti_instance_own_given(made, instance);
    made = NULL;
done:
    pti_instance_free(made);
    return status;
}

bool pti_instance_is_given_as(const pti_instance *one, const pti_instance *other) {
    bool has = pti_box_equals(&one->asked, &other->asked) &&
               (one->given == NULL) == (other->given == NULL);
    for (int o = 0; has && one->given != NULL && o < one->n_operands; o++)
        has = pti_index_map_equals(&one->given->map[o], &other->given->map[o]) &&
              pti_box_equals(&one->given->instance->operand[o].domain,
                             &other->given->instance->operand[o].domain);
    return has;
}
