#include "access/footprint/instance.h"

#include "access/declare/array.h"
#include "access/declare/parameter.h"
#include "access/footprint/narrow.h"
#include "access/footprint/section.h"
#include "access/set/boxes.h"
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
        operand->whole = array->domain;
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

/* Make the sections of an operand consecutive, in the order of declaration. */
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

static polytile_status fill_roles(polytile_context *ctx, pti_instance *instance) {
    polytile_status status = POLYTILE_OK;
    for (int p = 0; p < instance->n_operands; p++)
        PTI_TRY(pti_operand_fill_roles(ctx, instance, &instance->operand[p]));
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
    pti_instance *made = allocate_instance(declaration);
    if (made == NULL)
        return pti_fail_memory(ctx, declaration->name, (double)sizeof *made);
    made->declaration_hash = kernel->declaration_hash;
    PTI_TRY(fill_threads(ctx, threads, made));
    PTI_TRY(fill_operands(ctx, declaration, arrays, made));
    PTI_TRY(pti_parameters_match(ctx, declaration, n_parameters, parameters, made->parameter));
    PTI_TRY(fill_sections(ctx, declaration, made));
    PTI_TRY(fill_roles(ctx, made));
    PTI_TRY(pti_outside_check(ctx, made));
    PTI_TRY(pti_instance_check_given_once(ctx, made, arrays));
    *instance = made;
done:
    if (status != POLYTILE_OK)
        pti_instance_free(made);
    return status;
}

/* A section's subscripts stay; whether it may be empty depends on the threads. */
static void copy_sections(const pti_instance *whole, pti_instance *narrowed) {
    narrowed->n_sections = whole->n_sections;
    for (int s = 0; s < whole->n_sections; s++) {
        narrowed->section[s] = whole->section[s];
        narrowed->section[s].may_be_empty =
            pti_section_may_be_empty(&whole->section[s], &narrowed->threads);
    }
    for (int p = 0; p < whole->n_operands; p++) {
        narrowed->operand[p].first_section = whole->operand[p].first_section;
        narrowed->operand[p].n_sections = whole->operand[p].n_sections;
    }
}

polytile_status pti_instance_narrow(const polytile_kernel *kernel, const pti_instance *whole,
                                    const polytile_domain *threads, polytile_array *const *arrays,
                                    pti_instance **narrowed) {
    polytile_context *ctx = kernel->object.context;
    polytile_status status = POLYTILE_OK;
    *narrowed = NULL;
    pti_instance *made = allocate_instance(kernel->declaration);
    if (made == NULL)
        return pti_fail_memory(ctx, whole->kernel_name, (double)sizeof *made);
    made->declaration_hash = whole->declaration_hash;
    made->threads = *threads;
    memcpy(made->parameter, whole->parameter, sizeof made->parameter);
    PTI_TRY(fill_operands(ctx, kernel->declaration, arrays, made));
    for (int o = 0; o < made->n_operands; o++)
        made->operand[o].whole = whole->operand[o].whole;
    copy_sections(whole, made);
    PTI_TRY(fill_roles(ctx, made));
    *narrowed = made;
done:
    if (status != POLYTILE_OK)
        pti_instance_free(made);
    return status;
}
