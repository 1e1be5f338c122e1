#include "access/footprint/instance.h"

#include "access/array/array.h"
#include "access/declare/parameter.h"
#include "access/footprint/affine.h"
#include "access/footprint/edges.h"
#include "access/footprint/section.h"
#include "base/checked.h"
#include "base/plural.h"

#include <inttypes.h>

/* Instances are created: what a program gives is checked and filled in. */

static polytile_status check_thread_range(polytile_context *ctx, const pti_instance *instance,
                                          int k, polytile_range range) {
    const char *kernel = instance->kernel_name, *index = instance->index_name[k];
    if (range.hi < range.lo)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the launch domain %" PRId64 ":%" PRId64 " of %s is empty", kernel,
                        range.lo, range.hi, index);
    if (range.step < 1)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the launch domain of %s has step %" PRId64 "; it must be at least 1",
                        kernel, index, range.step);
    if (range.lo < -PTI_INDEX_LIMIT || range.hi > PTI_INDEX_LIMIT)
        return pti_fail(ctx, POLYTILE_OVERFLOW,
                        "%s: the launch domain %" PRId64 ":%" PRId64
                        " of %s leaves -2^61:2^61; use a smaller one",
                        kernel, range.lo, range.hi, index);
    return POLYTILE_OK;
}

/** Count the threads along an index from 0 where there is a step between them. */
static void take_range(polytile_range given, polytile_range *asked, polytile_range *threads) {
    *asked = pti_range(given.lo, given.hi, given.step);
    *threads = asked->step == 1 ? *asked : pti_range(0, pti_range_count(*asked) - 1, 1);
}

static polytile_status fill_threads(polytile_context *ctx, const polytile_domain *threads,
                                    pti_instance *instance) {
    const char *kernel = instance->kernel_name;
    if (threads == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the launch domain is NULL", kernel);
    if (threads->n_dims != instance->n_indices)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the launch domain has %d %s, the kernel has %d %s", kernel,
                        threads->n_dims, pti_plural(threads->n_dims, "dimension", "dimensions"),
                        instance->n_indices, pti_plural(instance->n_indices, "index", "indices"));
    for (int k = 0; k < threads->n_dims; k++) {
        polytile_status status = check_thread_range(ctx, instance, k, threads->range[k]);
        if (status != POLYTILE_OK)
            return status;
        take_range(threads->range[k], &instance->asked.range[k], &instance->threads.range[k]);
    }
    instance->asked.n_dims = instance->threads.n_dims = threads->n_dims;
    if (pti_box_count(&instance->threads) == INT64_MAX)
        return pti_fail(ctx, POLYTILE_OVERFLOW,
                        "%s: the launch domain has more than 2^63 - 2 threads", kernel);
    return POLYTILE_OK;
}

/** The only section that scratch has in its declaration. */
static const pti_access *find_scratch(const polytile_declaration *declaration, int operand) {
    const pti_access *access = declaration->access;
    while (access->array != operand)
        access++;
    return access;
}

static void fill_scratch(const polytile_declaration *declaration, int p, pti_operand *operand) {
    operand->is_scratch = true;
    operand->same_array = p;
    operand->type = find_scratch(declaration, p)->type;
    operand->element_bytes = polytile_type_get_bytes(operand->type);
    operand->domain.n_dims = declaration->array_n_dims[p];
}

int pti_first_with_array(polytile_array *const *arrays, int operand) {
    int first = 0;
    while (arrays[first] != arrays[operand])
        first++;
    return first;
}

/** Fill in all operands and their sections. */
static polytile_status fill_operands(polytile_context *ctx, const polytile_declaration *declaration,
                                     polytile_array *const *arrays, pti_instance *instance) {
    const char *kernel = instance->kernel_name;
    for (int p = 0; p < instance->n_operands; p++) {
        pti_operand *operand = &instance->operand[p];
        const polytile_array *array = arrays == NULL ? NULL : arrays[p];
        if (declaration->is_scratch[p]) {
            fill_scratch(declaration, p, operand);
            continue;
        }
        if (array == NULL)
            return pti_fail(ctx, POLYTILE_INVALID, "%s: the array for %s (number %d) is NULL",
                            kernel, operand->name, p);
        if (array->domain.n_dims != declaration->array_n_dims[p])
            return pti_fail(
                ctx, POLYTILE_DECLARATION, "%s: %s has %d %s, but its array %s has %d %s", kernel,
                operand->name, declaration->array_n_dims[p],
                pti_plural(declaration->array_n_dims[p], "subscript", "subscripts"), array->name,
                array->domain.n_dims, pti_plural(array->domain.n_dims, "dimension", "dimensions"));
        operand->type = array->type;
        operand->element_bytes = array->element_bytes;
        operand->domain = array->domain;
        operand->whole = *pti_array_whole(array);
        operand->same_array = pti_first_with_array(arrays, p);
    }
    return POLYTILE_OK;
}

bool pti_operand_has_writer_beside(const pti_instance *instance, int operand) {
    bool has = false;
    for (int o = 0; o < instance->n_operands; o++)
        has |= o != operand && instance->operand[o].writes &&
               instance->operand[o].same_array == instance->operand[operand].same_array;
    return has;
}

/** Add the sections of an access. */
static polytile_status add_access(polytile_context *ctx, const polytile_declaration *declaration,
                                  int access, pti_instance *instance) {
    const pti_access *of = &declaration->access[access];
    pti_section plain;
    polytile_status status;
    PTI_TRY(pti_section_fill(ctx, instance, of, &plain));
    plain.access = access;
    PTI_TRY(pti_edges_add_sections(ctx, instance, of, &plain));
done:
    return status;
}

/** Refuse an access by which a thread touches nothing of its array, but something outside. */
static polytile_status check_access(polytile_context *ctx, const polytile_declaration *declaration,
                                    int access, const pti_instance *instance) {
    const pti_access *of = &declaration->access[access];
    pti_section declared;
    polytile_status status;
    PTI_TRY(pti_section_fill(ctx, instance, of, &declared));
    for (int d = 0; d < of->n_dims; d++)
        declared.edges |= of->subscript[d].edge != POLYTILE_EDGE_CLIP ? 1u << d : 0;
    PTI_TRY(pti_outside_check(ctx, instance, &declared));
done:
    return status;
}

static polytile_status check_accesses(polytile_context *ctx,
                                      const polytile_declaration *declaration,
                                      const pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < declaration->n_accesses; a++)
        PTI_TRY(check_access(ctx, declaration, a, instance));
done:
    return status;
}

/* Make the sections of an operand consecutive, in the order of declaration. */
static polytile_status fill_sections(polytile_context *ctx, const polytile_declaration *declaration,
                                     pti_instance *instance) {
    for (int p = 0; p < instance->n_operands; p++) {
        instance->operand[p].first_section = instance->n_sections;
        for (int a = 0; a < declaration->n_accesses; a++) {
            if (declaration->access[a].array != p)
                continue;
            polytile_status status = add_access(ctx, declaration, a, instance);
            if (status != POLYTILE_OK)
                return status;
        }
        instance->operand[p].n_sections = instance->n_sections - instance->operand[p].first_section;
    }
    return POLYTILE_OK;
}

/** The extents of scratch are what all threads have of it. */
static polytile_status fit_scratch(polytile_context *ctx, pti_instance *instance,
                                   pti_operand *operand) {
    const pti_section *section = &instance->section[operand->first_section];
    int64_t n_bytes = operand->element_bytes;
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        const polytile_range range = {pti_affine_min(&subscript->lo, &instance->threads),
                                      pti_affine_max(&subscript->hi, &instance->threads), 1};
        if (range.hi < range.lo)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "%s: dimension %d of scratch %s runs over %" PRId64 ":%" PRId64
                            ", which has no element; give larger extents or parameters",
                            instance->kernel_name, d, operand->name, range.lo, range.hi);
        if (pti_mul_overflows(n_bytes, range.hi - range.lo + 1, &n_bytes))
            return pti_fail(ctx, POLYTILE_OVERFLOW,
                            "%s: the bytes of scratch %s exceed 64 bits at dimension %d; use "
                            "smaller extents or parameters",
                            instance->kernel_name, operand->name, d);
        operand->domain.range[d] = range;
    }
    operand->whole = operand->domain;
    return POLYTILE_OK;
}

static polytile_status fit_all_scratch(polytile_context *ctx, pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    for (int p = 0; p < instance->n_operands; p++)
        if (instance->operand[p].is_scratch)
            PTI_TRY(fit_scratch(ctx, instance, &instance->operand[p]));
done:
    return status;
}

polytile_status pti_instance_create(const polytile_kernel *kernel, const polytile_domain *threads,
                                    polytile_array *const *arrays, int n_parameters,
                                    const polytile_parameter *parameters, pti_instance **instance) {
    polytile_context *ctx = kernel->object.context;
    const polytile_declaration *declaration = kernel->declaration;
    polytile_status status = POLYTILE_OK;
    *instance = NULL;
    pti_instance *made = pti_instance_allocate(declaration);
    if (made == NULL)
        return pti_fail_memory(ctx, declaration->name, (double)sizeof *made);
    made->declaration_hash = kernel->declaration_hash;
    made->is_team = kernel->implementation.team != NULL;
    PTI_TRY(fill_threads(ctx, threads, made));
    PTI_TRY(fill_operands(ctx, declaration, arrays, made));
    PTI_TRY(pti_parameters_match(ctx, declaration, n_parameters, parameters, made->parameter));
    PTI_TRY(fill_sections(ctx, declaration, made));
    PTI_TRY(fit_all_scratch(ctx, made));
    PTI_TRY(pti_instance_fill_roles(ctx, made));
    PTI_TRY(check_accesses(ctx, declaration, made));
    *instance = made;
done:
    if (status != POLYTILE_OK)
        pti_instance_free(made);
    return status;
}
