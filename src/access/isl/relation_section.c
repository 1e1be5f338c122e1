#include "access/isl/relations.h"
#include "base/checked.h"

#include <isl/constraint.h>
#include <isl/map.h>
#include <isl/val.h>

/* The smallest section around a relation: each element dimension by itself, between two affine
 * bounds with integer coefficients. */

/** Bounds from the constraints that isl hands over for one element dimension. */
typedef struct bounds {
    const polytile_declaration *declaration;
    polytile_subscript *subscript;
    bool lower_names_index;
    bool upper_names_index;
} bounds;

/** Read a number; false: it is too large. */
static bool read_isl_number(__isl_take isl_val *held, int64_t *value) {
    bool fits = held != NULL && isl_val_cmp_si(held, INT64_MAX / 4) < 0 &&
                isl_val_cmp_si(held, -(INT64_MAX / 4)) > 0;
    if (fits)
        *value = isl_val_get_num_si(held);
    isl_val_free(held);
    return fits;
}

static bool get_coefficient(__isl_keep isl_constraint *constraint, enum isl_dim_type type, int at,
                            int64_t *value) {
    return read_isl_number(isl_constraint_get_coefficient_val(constraint, type, at), value);
}

/** Find the constraint without its element, times sign; false when a coefficient is too large. */
static bool rest_of_constraint(const bounds *of, __isl_keep isl_constraint *constraint,
                               int64_t sign, polytile_affine *rest, bool *names_index) {
    int64_t value;
    *rest = (polytile_affine){0};
    *names_index = false;
    if (!read_isl_number(isl_constraint_get_constant_val(constraint), &value))
        return false;
    rest->constant = sign * value;
    for (int p = 0; p < of->declaration->n_parameters; p++) {
        if (!get_coefficient(constraint, isl_dim_param, p, &value))
            return false;
        rest->parameter[p] = sign * value;
    }
    for (int k = 0; k < of->declaration->n_indices; k++) {
        if (!get_coefficient(constraint, isl_dim_in, k, &value))
            return false;
        rest->index[k] = sign * value;
        *names_index |= value != 0;
    }
    return true;
}

/** Take a lower bound. One that follows the threads goes first: it is tighter somewhere. */
static void take_lower(bounds *of, const polytile_affine *lo, bool names_index) {
    if (!of->subscript->from_first && (of->lower_names_index || !names_index))
        return;
    of->subscript->lo = *lo;
    of->subscript->from_first = false;
    of->lower_names_index = names_index;
}

/** Take an upper bound. One that follows the threads goes first: it is tighter somewhere. */
static void take_upper(bounds *of, const polytile_affine *hi, bool names_index) {
    if (!of->subscript->to_last && (of->upper_names_index || !names_index))
        return;
    of->subscript->hi = *hi;
    of->subscript->to_last = false;
    of->upper_names_index = names_index;
}

/** Take a bound from a constraint: element + rest >= 0 is a lower one, -element + rest >= 0 an
 * upper one, an equality both. */
static isl_stat take_constraint(__isl_take isl_constraint *constraint, void *user) {
    bounds *of = user;
    int64_t element = 0;
    polytile_affine affine;
    bool names_index;
    bool has_division = isl_constraint_involves_dims(
        constraint, isl_dim_div, 0, (unsigned)isl_constraint_dim(constraint, isl_dim_div));
    bool usable = !has_division && get_coefficient(constraint, isl_dim_out, 0, &element) &&
                  pti_abs(element) == 1 &&
                  rest_of_constraint(of, constraint, -element, &affine, &names_index);
    bool is_equality = isl_constraint_is_equality(constraint);
    if (usable && (is_equality || element > 0))
        take_lower(of, &affine, names_index);
    if (usable && (is_equality || element < 0))
        take_upper(of, &affine, names_index);
    isl_constraint_free(constraint);
    return isl_stat_ok;
}

/** Return the step of one element dimension if its residue is the same for the lower bound. */
static int64_t step_of(__isl_keep isl_map *map, int d) {
    isl_stride_info *info = isl_map_get_range_stride_info(map, d);
    isl_val *stride = isl_stride_info_get_stride(info);
    bool fits = stride != NULL && isl_val_is_int(stride) && isl_val_cmp_si(stride, INT32_MAX) < 0;
    int64_t step = fits ? isl_val_get_num_si(stride) : 1;
    isl_val_free(stride);
    isl_stride_info_free(info);
    return step < 1 ? 1 : step;
}

/** Bound one element dimension of a relation; false when isl fails. */
static bool bound_dimension(const polytile_declaration *declaration, __isl_keep isl_map *map, int d,
                            polytile_subscript *subscript) {
    int n_dims = (int)isl_map_dim(map, isl_dim_out);
    isl_map *alone = isl_map_copy(map);
    alone = isl_map_project_out(alone, isl_dim_out, (unsigned)(d + 1), (unsigned)(n_dims - d - 1));
    alone = isl_map_project_out(alone, isl_dim_out, 0, (unsigned)d);
    isl_basic_map *hull = isl_map_simple_hull(alone);
    bounds found = {.declaration = declaration, .subscript = subscript};
    *subscript = (polytile_subscript){.step = 1, .from_first = true, .to_last = true};
    bool bounded = isl_basic_map_foreach_constraint(hull, take_constraint, &found) == isl_stat_ok;
    isl_basic_map_free(hull);
    return bounded;
}

/** Return the relation of an access's subscripts alone. */
static __isl_give isl_map *map_of_access(isl_ctx *isl, const polytile_declaration *declaration,
                                         const pti_access *access) {
    pti_access plain = *access;
    plain.relation = NULL;
    return pti_declared_relation(isl, declaration, &plain);
}

/** Take the strides of the relation as steps if the section still contains it. False when memory
 * runs out. */
static bool find_steps(const polytile_declaration *declaration, __isl_keep isl_map *map,
                       pti_access *access) {
    isl_ctx *isl = isl_map_get_ctx(map);
    bool is_answered = true;
    for (int d = 0; d < access->n_dims && is_answered; d++) {
        access->subscript[d].step = access->subscript[d].from_first ? 1 : step_of(map, d);
        if (access->subscript[d].step == 1)
            continue;
        isl_map *section = map_of_access(isl, declaration, access);
        isl_bool contains = isl_map_is_subset(map, section);
        if (contains != isl_bool_true)
            access->subscript[d].step = 1;
        is_answered = !pti_isl_lacked_memory_for(isl, contains);
        isl_map_free(section);
    }
    return is_answered;
}

/** Make a section empty, 1:0: an access that touches nothing must not stand for the whole array. */
static void make_empty(pti_access *access) {
    for (int d = 0; d < access->n_dims; d++)
        access->subscript[d] = (polytile_subscript){.lo.constant = 1, .step = 1};
}

/** Find out whether the section equals the relation. False when memory runs out. */
static bool compare_with_relation(isl_ctx *isl, const polytile_declaration *declaration,
                                  __isl_keep isl_map *map, pti_access *access) {
    isl_map *section = map_of_access(isl, declaration, access);
    isl_bool is_equal = isl_map_is_equal(map, section);
    access->exact = is_equal == isl_bool_true;
    isl_map_free(section);
    return !pti_isl_lacked_memory_for(isl, is_equal);
}

static bool find_section(isl_ctx *isl, const polytile_declaration *declaration,
                         pti_access *access) {
    isl_map *map = pti_declared_relation(isl, declaration, access);
    bool found = map != NULL;
    for (int d = 0; found && d < access->n_dims; d++)
        found = bound_dimension(declaration, map, d, &access->subscript[d]);
    isl_bool is_empty = isl_map_is_empty(map);
    found = found && !pti_isl_lacked_memory_for(isl, is_empty);
    if (is_empty == isl_bool_true)
        make_empty(access);
    else
        found = found && find_steps(declaration, map, access);
    found = found && compare_with_relation(isl, declaration, map, access);
    isl_map_free(map);
    return found;
}

static bool has_braces(const polytile_declaration *declaration) {
    for (int k = 0; k < declaration->n_accesses; k++) {
        if (declaration->access[k].relation != NULL)
            return true;
    }
    return false;
}

static polytile_status find_sections(polytile_context *ctx, polytile_declaration *declaration) {
    bool found = true;
    isl_ctx *isl = pti_isl_open();
    if (isl == NULL)
        return pti_fail_memory(ctx, declaration->name, PTI_UNKNOWN_BYTES);
    for (int k = 0; found && k < declaration->n_accesses; k++) {
        pti_isl_begin(isl);
        if (declaration->access[k].relation != NULL)
            found = find_section(isl, declaration, &declaration->access[k]);
    }
    polytile_status status =
        found ? POLYTILE_OK
              : pti_isl_fail(ctx, isl, declaration->name,
                             "a relation in braces is too involved to be bounded; use fewer "
                             "conditions or the short form");
    pti_isl_close(isl);
    return status;
}

polytile_status pti_relations_find_sections(polytile_context *ctx,
                                            polytile_declaration *declaration) {
    return has_braces(declaration) ? find_sections(ctx, declaration) : POLYTILE_OK;
}
