#include "access/isl/relations.h"

#include "access/footprint/section.h"
#include "access/isl/edge_relation.h"
#include "access/isl/isl_memory.h"
#include "base/crash.h"

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_OPERATIONS = 100000, CONTEXT_BYTES = 64 * 1024 };

/** isl 0.25 crashes if memory runs out while it makes a context, so this asks for that memory
 * before. If other threads take it in between, the crash is reported. */
static bool has_memory_for_context(void) {
    void *memory = pti_isl_memory_source.allocate(CONTEXT_BYTES);
    free(memory);
    return memory != NULL;
}

static isl_ctx *make_context(void) {
    static const pti_crash_note note = {
        "isl_ctx_alloc()", "isl has no memory for a context, and cannot say so; free some"};
    pti_crash_watch();
    const pti_crash_note *before = pti_crash_enter(&note);
    isl_ctx *isl = isl_ctx_alloc();
    pti_crash_enter(before);
    return isl;
}

isl_ctx *pti_isl_open(void) {
    pti_isl_memory_protect();
    isl_ctx *isl = has_memory_for_context() ? make_context() : NULL;
    if (isl == NULL || !pti_isl_memory_add(isl)) {
        isl_ctx_free(isl);
        return NULL;
    }
    isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
    pti_isl_begin(isl);
    return isl;
}

void pti_isl_close(isl_ctx *isl) {
    pti_isl_memory_end(isl);
    isl_ctx_free(isl);
}

void pti_isl_begin(isl_ctx *isl) {
    isl_ctx_reset_error(isl);
    isl_ctx_reset_operations(isl);
    isl_ctx_set_max_operations(isl, MAX_OPERATIONS);
    pti_isl_memory_begin(isl);
}

bool pti_isl_gave_up(isl_ctx *isl) {
    return isl_ctx_last_error(isl) == isl_error_quota && !pti_isl_memory_ran_out();
}

polytile_status pti_isl_fail(polytile_context *ctx, isl_ctx *isl, const char *kernel,
                             const char *format, ...) {
    char text[PTI_ERROR_BYTES];
    va_list arguments;
    if (isl == NULL || !pti_isl_gave_up(isl))
        return pti_fail_memory(ctx, kernel, PTI_UNKNOWN_BYTES);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pti_fail(ctx, POLYTILE_UNSUPPORTED, "%s: %s", kernel, text);
}

bool pti_isl_lacked_memory(isl_ctx *isl) {
    return isl_ctx_last_error(isl) == isl_error_alloc || pti_isl_memory_ran_out();
}

bool pti_isl_lacked_memory_for(isl_ctx *isl, isl_bool answer) {
    return pti_isl_lacked_memory(isl) || (answer == isl_bool_error && !pti_isl_gave_up(isl));
}

/** The columns of a constraint matrix: constant, parameters, indices, elements, divisions. */
typedef struct columns {
    int n_parameters;
    int n_indices;
    int n_elements;
    int n_divisions;
} columns;

static int column_of_parameter(int p) {
    return 1 + p;
}

static int column_of_index(const columns *in, int k) {
    return 1 + in->n_parameters + k;
}

static int column_of_element(const columns *in, int d) {
    return 1 + in->n_parameters + in->n_indices + d;
}

static int column_of_division(const columns *in, int k) {
    return 1 + in->n_parameters + in->n_indices + in->n_elements + k;
}

static int n_columns(const columns *in) {
    return column_of_division(in, in->n_divisions);
}

static __isl_give isl_mat *put_number(__isl_take isl_mat *matrix, int row, int column,
                                      int64_t value) {
    isl_val *held = isl_val_int_from_si(isl_mat_get_ctx(matrix), value);
    return isl_mat_set_element_val(matrix, row, column, held);
}

static __isl_give isl_mat *new_matrix(isl_ctx *isl, int n_rows, const columns *in) {
    isl_mat *matrix = isl_mat_alloc(isl, (unsigned)n_rows, (unsigned)n_columns(in));
    for (int row = 0; row < n_rows; row++) {
        for (int column = 0; column < n_columns(in); column++)
            matrix = put_number(matrix, row, column, 0);
    }
    return matrix;
}

/** Put sign * value into a matrix; of the smallest value this is no 64-bit number. */
static __isl_give isl_mat *put_signed(__isl_take isl_mat *matrix, int row, int column,
                                      int64_t value, int sign) {
    isl_val *held = isl_val_int_from_si(isl_mat_get_ctx(matrix), value);
    return isl_mat_set_element_val(matrix, row, column, sign < 0 ? isl_val_neg(held) : held);
}

/** Put sign * affine into a row's constant, parameters and indices. */
static __isl_give isl_mat *put_affine(__isl_take isl_mat *matrix, int row, const columns *in,
                                      const polytile_affine *affine, int sign) {
    matrix = put_signed(matrix, row, 0, affine->constant, sign);
    for (int p = 0; p < in->n_parameters; p++)
        matrix = put_signed(matrix, row, column_of_parameter(p), affine->parameter[p], sign);
    for (int k = 0; k < in->n_indices; k++)
        matrix = put_signed(matrix, row, column_of_index(in, k), affine->index[k], sign);
    return matrix;
}

/** Make the space [parameters] -> { kernel[index] -> array[element] }. */
static __isl_give isl_space *new_space(isl_ctx *isl, const columns *in, const char *kernel,
                                       const char *array) {
    isl_space *space = isl_space_alloc(isl, (unsigned)in->n_parameters, (unsigned)in->n_indices,
                                       (unsigned)in->n_elements);
    space = isl_space_set_tuple_name(space, isl_dim_in, kernel);
    return isl_space_set_tuple_name(space, isl_dim_out, array);
}

static __isl_give isl_map *map_of(__isl_take isl_space *space, __isl_take isl_mat *equalities,
                                  __isl_take isl_mat *inequalities) {
    return isl_map_from_basic_map(isl_basic_map_from_constraint_matrices(
        space, equalities, inequalities, isl_dim_cst, isl_dim_param, isl_dim_in, isl_dim_out,
        isl_dim_div));
}

/** Make the relation of subscripts: element d is lo + step * division, lo <= element d <= hi; whole
 * ends are open. */
static __isl_give isl_map *map_of_subscripts(isl_ctx *isl, columns in, const char *kernel,
                                             const char *array,
                                             const polytile_subscript *subscripts) {
    int n_bounds = 0;
    in.n_divisions = 0;
    for (int d = 0; d < in.n_elements; d++) {
        in.n_divisions += subscripts[d].step > 1 && !subscripts[d].from_first;
        n_bounds += !subscripts[d].from_first + !subscripts[d].to_last;
    }
    isl_mat *equalities = new_matrix(isl, in.n_divisions, &in);
    isl_mat *inequalities = new_matrix(isl, n_bounds, &in);
    int bound = 0;
    int division = 0;
    for (int d = 0; d < in.n_elements; d++) {
        const polytile_subscript *subscript = &subscripts[d];
        if (!subscript->from_first) {
            inequalities = put_affine(inequalities, bound, &in, &subscript->lo, -1);
            inequalities = put_number(inequalities, bound++, column_of_element(&in, d), 1);
        }
        if (!subscript->to_last) {
            inequalities = put_affine(inequalities, bound, &in, &subscript->hi, 1);
            inequalities = put_number(inequalities, bound++, column_of_element(&in, d), -1);
        }
        if (subscript->step > 1 && !subscript->from_first) {
            equalities = put_affine(equalities, division, &in, &subscript->lo, -1);
            equalities = put_number(equalities, division, column_of_element(&in, d), 1);
            equalities = put_number(equalities, division, column_of_division(&in, division),
                                    -subscript->step);
            division++;
        }
    }
    return map_of(new_space(isl, &in, kernel, array), equalities, inequalities);
}

static __isl_give isl_mat *put_constraint(__isl_take isl_mat *matrix, int row, const columns *in,
                                          const pti_constraint *constraint) {
    matrix = put_number(matrix, row, 0, constraint->constant);
    for (int p = 0; p < in->n_parameters; p++)
        matrix = put_number(matrix, row, column_of_parameter(p), constraint->parameter[p]);
    for (int k = 0; k < in->n_indices; k++)
        matrix = put_number(matrix, row, column_of_index(in, k), constraint->index[k]);
    for (int d = 0; d < in->n_elements; d++)
        matrix = put_number(matrix, row, column_of_element(in, d), constraint->element[d]);
    for (int k = 0; k < in->n_divisions; k++)
        matrix = put_number(matrix, row, column_of_division(in, k), constraint->exists[k]);
    return matrix;
}

static __isl_give isl_map *map_of_relation(isl_ctx *isl, columns in, const char *kernel,
                                           const char *array, const pti_relation *relation) {
    int n_equalities = 0;
    in.n_divisions = relation->n_exists;
    for (int c = 0; c < relation->n_constraints; c++)
        n_equalities += relation->constraint[c].is_equality;
    isl_mat *equalities = new_matrix(isl, n_equalities, &in);
    isl_mat *inequalities = new_matrix(isl, relation->n_constraints - n_equalities, &in);
    int equality = 0;
    int inequality = 0;
    for (int c = 0; c < relation->n_constraints; c++) {
        const pti_constraint *constraint = &relation->constraint[c];
        if (constraint->is_equality)
            equalities = put_constraint(equalities, equality++, &in, constraint);
        else
            inequalities = put_constraint(inequalities, inequality++, &in, constraint);
    }
    return map_of(new_space(isl, &in, kernel, array), equalities, inequalities);
}

static columns columns_of(const polytile_declaration *declaration, const pti_access *access) {
    return (columns){.n_parameters = declaration->n_parameters,
                     .n_indices = declaration->n_indices,
                     .n_elements = access->n_dims};
}

/** Open the ends of subscripts with edges: what they make of an element depends on the array. */
static void open_edges(pti_access *access) {
    for (int d = 0; d < access->n_dims; d++)
        if (access->subscript[d].edge != POLYTILE_EDGE_CLIP)
            access->subscript[d] =
                (polytile_subscript){.step = 1, .from_first = true, .to_last = true};
}

__isl_give isl_map *pti_declared_relation(isl_ctx *isl, const polytile_declaration *declaration,
                                          const pti_access *access) {
    columns in = columns_of(declaration, access);
    const char *array = declaration->array_name[access->array];
    pti_access open = *access;
    open_edges(&open);
    return access->relation != NULL
               ? map_of_relation(isl, in, declaration->name, array, access->relation)
               : map_of_subscripts(isl, in, declaration->name, array, open.subscript);
}

/** Make the relations. Errors: NO_MEMORY, UNSUPPORTED (a relation that is too much for isl). */
static polytile_status create_relations(polytile_context *ctx,
                                        const polytile_declaration *declaration,
                                        pti_relations **relations) {
    pti_relations *made = calloc(1, sizeof *made);
    bool complete = made != NULL;
    if (complete) {
        made->n_accesses = declaration->n_accesses;
        made->access_relation =
            calloc((size_t)declaration->n_accesses + 1, sizeof *made->access_relation);
        made->isl = pti_isl_open();
        complete = made->access_relation != NULL && made->isl != NULL;
    }
    for (int k = 0; complete && k < declaration->n_accesses; k++) {
        pti_isl_begin(made->isl);
        made->access_relation[k] =
            pti_declared_relation(made->isl, declaration, &declaration->access[k]);
        complete = made->access_relation[k] != NULL;
    }
    if (complete) {
        *relations = made;
        return POLYTILE_OK;
    }
    polytile_status status = pti_isl_fail(
        ctx, made == NULL ? NULL : made->isl, declaration->name,
        "a relation in braces is too involved; use fewer conditions or the short form");
    pti_relations_free(made);
    return status;
}

polytile_status pti_relations_begin(const polytile_kernel *kernel) {
    polytile_kernel *asked = (polytile_kernel *)kernel;
    polytile_status status = POLYTILE_OK;
    if (asked->relations == NULL)
        PTI_TRY(create_relations(kernel->object.context, kernel->declaration, &asked->relations));
    pti_isl_begin(asked->relations->isl);
done:
    return status;
}

void pti_relations_free(pti_relations *relations) {
    if (relations == NULL)
        return;
    for (int k = 0; relations->access_relation != NULL && k < relations->n_accesses; k++)
        isl_map_free(relations->access_relation[k]);
    free(relations->access_relation);
    pti_isl_close(relations->isl);
    free(relations);
}

/** Bound the tuple of a relation by a dense box. */
static __isl_give isl_map *bound_tuple_by(__isl_take isl_map *map, enum isl_dim_type type,
                                          const polytile_domain *box) {
    for (int d = 0; d < box->n_dims; d++) {
        isl_ctx *isl = isl_map_get_ctx(map);
        map = isl_map_lower_bound_val(map, type, (unsigned)d,
                                      isl_val_int_from_si(isl, box->range[d].lo));
        map = isl_map_upper_bound_val(map, type, (unsigned)d,
                                      isl_val_int_from_si(isl, box->range[d].hi));
    }
    return map;
}

static polytile_affine declared_affine(const pti_affine *affine) {
    polytile_affine declared = {.constant = affine->constant};
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        declared.index[k] = affine->index[k];
    return declared;
}

/** Return a section of the launch domain's threads, not clipped to the array. */
static __isl_give isl_map *section_unclipped(isl_ctx *isl, const pti_instance *instance,
                                             const pti_section *section) {
    const pti_operand *operand = &instance->operand[section->operand];
    columns in = {.n_indices = instance->n_indices, .n_elements = section->n_dims};
    polytile_subscript subscripts[POLYTILE_MAX_DIMS];
    for (int d = 0; d < section->n_dims; d++)
        subscripts[d] = (polytile_subscript){.lo = declared_affine(&section->subscript[d].lo),
                                             .hi = declared_affine(&section->subscript[d].hi),
                                             .step = section->subscript[d].step};
    isl_map *map = map_of_subscripts(isl, in, instance->kernel_name, operand->name, subscripts);
    return bound_tuple_by(map, isl_dim_in, &instance->threads);
}

__isl_give isl_map *pti_section_relation(isl_ctx *isl, const pti_instance *instance,
                                         const pti_section *section) {
    return bound_tuple_by(section_unclipped(isl, instance, section), isl_dim_out,
                          &instance->operand[section->operand].domain);
}

/** Return an index map as affine expressions on a space of indices. */
static __isl_give isl_multi_aff *affs_of(const pti_index_map *by, __isl_take isl_space *from,
                                         __isl_take isl_space *to) {
    isl_multi_aff *affs = isl_multi_aff_zero(isl_space_map_from_domain_and_range(from, to));
    for (int d = 0; d < by->n_to; d++) {
        isl_aff *aff = isl_multi_aff_get_aff(affs, d);
        isl_ctx *isl = isl_multi_aff_get_ctx(affs);
        aff = isl_aff_set_constant_val(aff, isl_val_int_from_si(isl, by->constant[d]));
        for (int k = 0; k < by->n_from; k++)
            aff = isl_aff_set_coefficient_val(aff, isl_dim_in, k,
                                              isl_val_int_from_si(isl, by->coefficient[d][k]));
        affs = isl_multi_aff_set_aff(affs, d, aff);
    }
    return affs;
}

/** Let an index map follow a relation. */
static __isl_give isl_map *map_range(__isl_take isl_map *map, const pti_index_map *by) {
    isl_space *range = isl_space_range(isl_map_get_space(map));
    isl_space *to = isl_space_set_alloc(isl_map_get_ctx(map), 0, (unsigned)by->n_to);
    return isl_map_apply_range(map, isl_map_from_multi_aff(affs_of(by, range, to)));
}

/** Give the threads of a relation the numbers that they have in an instance: 0, 1, 2 and so on
 * where its threads have steps. */
static __isl_give isl_map *renumber_threads(__isl_take isl_map *map, const pti_instance *instance) {
    pti_index_map asked = pti_index_map_identity(instance->n_indices);
    if (!pti_instance_has_steps(instance))
        return map;
    for (int d = 0; d < instance->n_indices; d++) {
        asked.coefficient[d][d] = instance->asked.range[d].step;
        asked.constant[d] = pti_instance_asked_index(instance, d, 0);
    }
    isl_space *threads = isl_space_domain(isl_map_get_space(map));
    return isl_map_preimage_domain_multi_aff(map,
                                             affs_of(&asked, isl_space_copy(threads), threads));
}

/** Fix the parameters of a relation in braces to their values. */
static __isl_give isl_map *fix_parameters(__isl_take isl_map *map, const pti_instance *instance) {
    isl_ctx *isl = isl_map_get_ctx(map);
    unsigned n_parameters = (unsigned)isl_map_dim(map, isl_dim_param);
    for (unsigned p = 0; p < n_parameters; p++)
        map = isl_map_fix_val(map, isl_dim_param, p,
                              isl_val_int_from_si(isl, instance->parameter[p]));
    return isl_map_project_out(map, isl_dim_param, 0, n_parameters);
}

const pti_section *pti_section_of_access(const polytile_declaration *declaration, int access,
                                         const pti_instance *instance) {
    const pti_operand *operand = &instance->operand[declaration->access[access].array];
    int section = operand->first_section;
    while (section < operand->first_section + operand->n_sections &&
           instance->section[section].access != access)
        section++;
    return &instance->section[section];
}

/** Return an access with edges, which the array clips where it has some. */
static __isl_give isl_map *edged_unclipped(isl_ctx *isl, const polytile_kernel *kernel, int access,
                                           const pti_instance *instance) {
    const pti_access *of = &kernel->declaration->access[access];
    pti_section plain;
    if (pti_section_fill(kernel->object.context, instance, of, &plain) != POLYTILE_OK)
        return NULL;
    return pti_apply_edges(section_unclipped(isl, instance, &plain), of,
                           &instance->operand[of->array].whole);
}

__isl_give isl_map *pti_access_relation_unclipped(isl_ctx *isl, const polytile_kernel *kernel,
                                                  int access, const pti_instance *instance) {
    const polytile_declaration *declaration = kernel->declaration;
    const pti_access *of = &declaration->access[access];
    if (pti_access_has_edges(of))
        return edged_unclipped(isl, kernel, access, instance);
    if (of->relation == NULL)
        return section_unclipped(isl, instance,
                                 pti_section_of_access(declaration, access, instance));
    isl_map *declared = isl == kernel->relations->isl
                            ? isl_map_copy(kernel->relations->access_relation[access])
                            : pti_declared_relation(isl, declaration, of);
    return bound_tuple_by(renumber_threads(fix_parameters(declared, instance), instance),
                          isl_dim_in, &instance->threads);
}

__isl_give isl_map *pti_access_relation_in(isl_ctx *isl, const polytile_kernel *kernel, int access,
                                           const pti_instance *instance) {
    int array = kernel->declaration->access[access].array;
    const pti_instance *given = pti_instance_as_given(instance);
    isl_map *map = bound_tuple_by(pti_access_relation_unclipped(isl, kernel, access, given),
                                  isl_dim_out, &given->operand[array].domain);
    return instance->given == NULL ? map : map_range(map, &instance->given->map[array]);
}

__isl_give isl_map *pti_access_relation(const polytile_kernel *kernel, int access,
                                        const pti_instance *instance) {
    return pti_access_relation_in(kernel->relations->isl, kernel, access, instance);
}
