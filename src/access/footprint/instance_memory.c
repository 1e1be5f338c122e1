#include "access/footprint/instance.h"

#include "access/footprint/fold.h"
#include "access/footprint/indirection.h"
#include "access/footprint/section.h"

#include <stdlib.h>
#include <string.h>

/* Instances are allocated, copied and freed. */

static void free_given(pti_given *given) {
    if (given == NULL)
        return;
    pti_instance_free(given->instance);
    free(given->map);
    free(given);
}

void pti_fold_free(struct pti_fold *fold) {
    if (fold == NULL)
        return;
    pti_instance_free(fold->instance);
    free(fold->axis);
    free(fold->reach);
    free(fold);
}

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
    if (instance->slabs != NULL)
        instance->slabs->given = NULL;
    pti_instance_free(instance->slabs);
    pti_fold_free(instance->fold);
    free_given(instance->given);
    pti_inspection_release(instance->inspection);
    free(instance);
}

/** Copy a text, and remember whether any copy failed. */
static char *copy_text(const char *text, bool *failed) {
    char *copy = strdup(text);
    *failed = *failed || copy == NULL;
    return copy;
}

pti_instance *pti_instance_allocate(const polytile_declaration *declaration) {
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
    instance->section = calloc(1, sizeof *instance->section);
    failed = failed || instance->operand == NULL || instance->section == NULL;
    for (int p = 0; !failed && p < declaration->n_arrays; p++)
        instance->operand[p].name = copy_text(declaration->array_name[p], &failed);
    if (!failed)
        return instance;
    pti_instance_free(instance);
    return NULL;
}

polytile_status pti_instance_copy_frame(polytile_context *ctx, const pti_instance *instance,
                                        int n_more, pti_instance **copy) {
    pti_instance *made = calloc(1, sizeof *made);
    bool failed = made == NULL;
    *copy = made;
    if (!failed) {
        *made = *instance;
        made->n_operands = made->n_further = made->n_sections = 0;
        made->given = NULL;
        made->slabs = NULL;
        made->fold = NULL;
        pti_inspection_hold(made->inspection);
        made->operand = calloc((size_t)(instance->n_operands + n_more + 1), sizeof *made->operand);
        made->section = calloc((size_t)instance->n_sections + 1, sizeof *made->section);
        made->kernel_name = strdup(instance->kernel_name);
        failed = made->operand == NULL || made->section == NULL || made->kernel_name == NULL;
        for (int k = 0; k < instance->n_indices; k++) {
            made->index_name[k] = strdup(instance->index_name[k]);
            failed = failed || made->index_name[k] == NULL;
        }
    }
    return failed ? pti_fail_memory(ctx, instance->kernel_name, sizeof *made) : POLYTILE_OK;
}

static polytile_status copy_operands(polytile_context *ctx, const pti_instance *instance,
                                     pti_instance *copy) {
    memcpy(copy->section, instance->section,
           (size_t)instance->n_sections * sizeof *instance->section);
    copy->n_sections = instance->n_sections;
    for (int o = 0; o < instance->n_operands; o++) {
        copy->operand[o] = instance->operand[o];
        copy->operand[o].name = strdup(instance->operand[o].name);
        copy->n_operands++;
        if (copy->operand[o].name == NULL)
            return pti_fail_memory(ctx, instance->kernel_name, sizeof *copy->operand);
    }
    return POLYTILE_OK;
}

polytile_status pti_instance_copy(polytile_context *ctx, const pti_instance *instance,
                                  pti_instance **copy) {
    polytile_status status;
    PTI_TRY(pti_instance_copy_frame(ctx, instance, 0, copy));
    PTI_TRY(copy_operands(ctx, instance, *copy));
    (*copy)->n_further = instance->n_further;
    (*copy)->given = instance->given;
done:
    return status;
}

/** Give a copy maps that change nothing. */
static polytile_status create_maps(polytile_context *ctx, pti_instance *copy) {
    pti_given *given = copy->given = calloc(1, sizeof *given);
    if (given != NULL)
        given->map = calloc((size_t)copy->n_operands + 1, sizeof *given->map);
    if (given == NULL || given->map == NULL)
        return pti_fail_memory(ctx, copy->kernel_name,
                               copy->n_operands * (double)sizeof *given->map);
    for (int o = 0; o < copy->n_operands; o++)
        given->map[o] = pti_index_map_identity(copy->operand[o].domain.n_dims);
    return POLYTILE_OK;
}

polytile_status pti_instance_copy_given(polytile_context *ctx, const pti_instance *instance,
                                        pti_instance **copy) {
    polytile_status status;
    PTI_TRY(pti_instance_copy(ctx, instance, copy));
    PTI_TRY(create_maps(ctx, *copy));
    if (instance->given != NULL)
        memcpy((*copy)->given->map, instance->given->map,
               (size_t)instance->n_operands * sizeof *instance->given->map);
done:
    return status;
}

void pti_instance_own_given(pti_instance *copy, pti_instance **instance) {
    pti_instance *former = *instance;
    if (former->given == NULL) {
        copy->given->instance = former;
    } else {
        copy->given->instance = former->given->instance;
        former->given->instance = NULL;
        pti_instance_free(former);
    }
    *instance = copy;
}
