#include "access/footprint/instance.h"

#include "access/declare/array.h"
#include "access/footprint/footprint.h"
#include "access/footprint/pieces.h"
#include "access/footprint/section.h"
#include "base/checked.h"
#include "base/plural.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pti_instance_free(pti_instance *instance) {
    if (instance == NULL)
        return;
    for (int k = 0; k < instance->n_indices; k++)
        free(instance->index_name[k]);
    for (int p = 0; instance->operand != NULL && p < instance->n_operands; p++)
        free(instance->operand[p].name);
    free(instance->operand);
    free(instance->section);
    free(instance->kernel_name);
    free(instance);
}

/* Copy a text and remember whether any copy failed. */
static char *copy_text(const char *text, bool *failed) {
    char *copy = strdup(text);
    *failed = *failed || copy == NULL;
    return copy;
}

static pti_instance *allocate_instance(const polytile_declaration *declaration) {
    pti_instance *instance = calloc(1, sizeof *instance);
    if (instance == NULL)
        return NULL;
    bool failed = false;
    instance->kernel_name = copy_text(declaration->name, &failed);
    instance->n_indices = declaration->n_indices;
    for (int k = 0; k < declaration->n_indices; k++)
        instance->index_name[k] = copy_text(declaration->index_name[k], &failed);
    instance->n_operands = declaration->n_arrays;
    instance->operand = calloc((size_t)declaration->n_arrays + 1, sizeof *instance->operand);
    instance->section = calloc((size_t)declaration->n_accesses + 1, sizeof *instance->section);
    if (instance->operand == NULL || instance->section == NULL)
        failed = true;
    for (int p = 0; !failed && p < declaration->n_arrays; p++)
        instance->operand[p].name = copy_text(declaration->array_name[p], &failed);
    if (!failed)
        return instance;
    pti_instance_free(instance);
    return NULL;
}

static polytile_status check_thread_range(polytile_context *ctx, const pti_instance *instance,
                                          int k, polytile_range range) {
    const char *kernel = instance->kernel_name, *index = instance->index_name[k];
    if (range.hi < range.lo)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the launch domain %" PRId64 ":%" PRId64 " of %s is empty", kernel,
                        range.lo, range.hi, index);
    if (range.step != 1)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the launch domain of %s has step %" PRId64
                        "; it must be 1, put the stride into the subscripts",
                        kernel, index, range.step);
    if (range.lo < -PTI_INDEX_LIMIT || range.hi > PTI_INDEX_LIMIT)
        return pti_fail(ctx, POLYTILE_OVERFLOW,
                        "%s: the launch domain %" PRId64 ":%" PRId64
                        " of %s leaves -2^61:2^61; use a smaller one",
                        kernel, range.lo, range.hi, index);
    return POLYTILE_OK;
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
    }
    if (pti_box_count(threads) == INT64_MAX)
        return pti_fail(ctx, POLYTILE_OVERFLOW,
                        "%s: the launch domain has more than 2^63 - 2 threads", kernel);
    instance->threads = *threads;
    return POLYTILE_OK;
}

static polytile_status fill_operands(polytile_context *ctx, const polytile_declaration *declaration,
                                     polytile_array *const *arrays, pti_instance *instance) {
    const char *kernel = instance->kernel_name;
    for (int p = 0; p < instance->n_operands; p++) {
        pti_operand *operand = &instance->operand[p];
        const polytile_array *array = arrays == NULL ? NULL : arrays[p];
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
    }
    return POLYTILE_OK;
}

polytile_status pti_instance_check_given_once(polytile_context *ctx, const pti_instance *instance,
                                              polytile_array *const *arrays) {
    for (int b = 1; b < instance->n_operands; b++) {
        for (int a = 0; a < b; a++) {
            const pti_operand *one = &instance->operand[a], *other = &instance->operand[b];
            if (arrays[a] == arrays[b] && (one->writes || other->writes))
                return pti_fail(ctx, POLYTILE_INVALID,
                                "%s: array %s is given for both %s and %s, and %s is written; give "
                                "two arrays, or name the array once in the declaration",
                                instance->kernel_name, arrays[a]->name, one->name, other->name,
                                one->writes ? one->name : other->name);
        }
    }
    return POLYTILE_OK;
}

/* The accesses of an operand become consecutive, else in the order in which they were declared. */
static polytile_status fill_sections(polytile_context *ctx, const polytile_declaration *declaration,
                                     pti_instance *instance) {
    for (int p = 0; p < instance->n_operands; p++) {
        instance->operand[p].first_section = instance->n_sections;
        for (int a = 0; a < declaration->n_accesses; a++) {
            if (declaration->access[a].array != p)
                continue;
            polytile_status status = pti_section_fill(ctx, instance, &declaration->access[a],
                                                      &instance->section[instance->n_sections]);
            if (status != POLYTILE_OK)
                return status;
            instance->n_sections++;
            instance->operand[p].n_sections++;
        }
    }
    return POLYTILE_OK;
}

static bool is_reducing(polytile_role role) {
    return role == POLYTILE_SUM || role == POLYTILE_PROD || role == POLYTILE_MIN ||
           role == POLYTILE_MAX;
}

static void add_role(pti_operand *operand, const pti_section *section) {
    bool reduces = is_reducing(section->role);
    operand->writes = operand->writes || section->role != POLYTILE_IN;
    operand->reads =
        operand->reads || (section->role != POLYTILE_OUT && !(reduces && section->fresh));
    operand->reduces = operand->reduces || reduces;
    operand->fresh = operand->fresh || (reduces && section->fresh);
    if (reduces)
        operand->reduction = section->role;
}

/* One array is combined in one way, and has no other role: threads combine into pieces of their own,
 * which hold what is combined and nothing else. */
static bool roles_agree(const pti_operand *operand, const pti_section *section) {
    if (is_reducing(section->role))
        return section->role == operand->reduction && section->fresh == operand->fresh;
    return !operand->reduces;
}

static polytile_status fill_roles(polytile_context *ctx, pti_instance *instance,
                                  pti_operand *operand) {
    const pti_section *sections = &instance->section[operand->first_section];
    for (int s = 0; s < operand->n_sections; s++)
        add_role(operand, &sections[s]);
    for (int s = 0; s < operand->n_sections; s++)
        if (!roles_agree(operand, &sections[s]))
            return pti_fail(ctx, POLYTILE_DECLARATION,
                            "%s: %s is reduced in two ways, or has another role beside a reducing "
                            "one; split it into two arrays",
                            instance->kernel_name, operand->name);
    if (operand->fresh && operand->type < 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: %s starts from the identity of a reduction, but its elements are %d "
                        "raw bytes; use a number type, or drop \"out\" and fill it before",
                        instance->kernel_name, operand->name, (int)operand->element_bytes);
    return POLYTILE_OK;
}

static bool writes_unknown_elements(const pti_instance *instance, const pti_operand *operand) {
    int64_t n_boxes = 0;
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        if (section->role == POLYTILE_IN)
            continue;
        if (!section->exact ||
            pti_add_overflows(n_boxes, pti_section_most_boxes(instance, section), &n_boxes))
            return true;
    }
    return n_boxes > PTI_MAX_WRITE_BOXES;
}

/* An operand whose written elements are not known as a few boxes is moved as one hull, both ways.
 */
static polytile_status fill_partial(polytile_context *ctx, const pti_instance *instance,
                                    pti_operand *operand) {
    operand->partial = writes_unknown_elements(instance, operand);
    operand->reads = operand->reads || operand->partial;
    if (operand->partial && operand->fresh)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: which elements of %s start from the identity takes more than %d boxes "
                        "to say; drop \"out\" from its role and fill %s before the launch",
                        instance->kernel_name, operand->name, PTI_MAX_WRITE_BOXES, operand->name);
    return POLYTILE_OK;
}

polytile_status pti_instance_create(const polytile_kernel *kernel, const polytile_domain *threads,
                                    polytile_array *const *arrays, int n_parameters,
                                    const polytile_parameter *parameters, pti_instance **instance) {
    polytile_context *ctx = kernel->object.context;
    const polytile_declaration *declaration = kernel->declaration;
    polytile_status status = POLYTILE_OK;
    *instance = NULL;
    pti_instance *made = allocate_instance(declaration);
    if (made == NULL)
        return pti_fail_memory(ctx, declaration->name, (double)sizeof *made);
    made->declaration_hash = kernel->declaration_hash;
    PTI_TRY(fill_threads(ctx, threads, made));
    PTI_TRY(fill_operands(ctx, declaration, arrays, made));
    PTI_TRY(pti_parameters_match(ctx, declaration, n_parameters, parameters, made->parameter));
    PTI_TRY(fill_sections(ctx, declaration, made));
    for (int p = 0; p < made->n_operands; p++) {
        PTI_TRY(fill_roles(ctx, made, &made->operand[p]));
        PTI_TRY(fill_partial(ctx, made, &made->operand[p]));
    }
    PTI_TRY(pti_outside_check(ctx, made));
    PTI_TRY(pti_instance_check_given_once(ctx, made, arrays));
    *instance = made;
done:
    if (status != POLYTILE_OK)
        pti_instance_free(made);
    return status;
}
