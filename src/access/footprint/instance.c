#include "access/footprint/instance.h"

#include "access/array/array.h"
#include "access/declare/parameter.h"
#include "access/footprint/affine.h"
#include "access/footprint/edges.h"
#include "access/footprint/fold.h"
#include "access/footprint/indirection.h"
#include "access/footprint/narrow.h"
#include "access/footprint/section.h"
#include "access/set/boxes.h"
#include "base/checked.h"
#include "base/list.h"
#include "base/plural.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    instance->section = calloc(1, sizeof *instance->section);
    failed = failed || instance->operand == NULL || instance->section == NULL;
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
    made->is_team = kernel->implementation.team != NULL;
    PTI_TRY(fill_threads(ctx, threads, made));
    PTI_TRY(fill_operands(ctx, declaration, arrays, made));
    PTI_TRY(pti_parameters_match(ctx, declaration, n_parameters, parameters, made->parameter));
    PTI_TRY(fill_sections(ctx, declaration, made));
    PTI_TRY(fit_all_scratch(ctx, made));
    PTI_TRY(fill_roles(ctx, made));
    PTI_TRY(check_accesses(ctx, declaration, made));
    *instance = made;
done:
    if (status != POLYTILE_OK)
        pti_instance_free(made);
    return status;
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

/** Make maps that change nothing. */
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

/* A section's subscripts stay; whether it may be empty depends on the threads. False: no memory. */
static bool copy_sections(const pti_instance *whole, pti_instance *narrowed) {
    if (!PTI_RESIZE(narrowed->section, whole->n_sections + 1))
        return false;
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
    return true;
}

/** Fill in what an operand of a narrowed instance has beside roles. */
static void narrow_operand(const pti_operand *operand, polytile_array *const *arrays, int o,
                           pti_operand *narrowed) {
    const bool has_array = arrays != NULL && !operand->is_scratch;
    narrowed->is_scratch = operand->is_scratch;
    narrowed->type = operand->type;
    narrowed->element_bytes = operand->element_bytes;
    narrowed->domain = has_array ? arrays[o]->domain : operand->domain;
    narrowed->whole = operand->whole;
    narrowed->same_array = has_array ? pti_first_with_array(arrays, o) : operand->same_array;
}

/** Narrow an instance over arrays with its own types, and domains that are inside its own; NULL:
 * its own. */
static polytile_status narrow_one(const polytile_kernel *kernel, const pti_instance *whole,
                                  const polytile_domain *threads, polytile_array *const *arrays,
                                  pti_instance **narrowed) {
    polytile_status status = POLYTILE_OK;
    pti_instance *made = *narrowed = allocate_instance(kernel->declaration);
    if (made == NULL)
        return pti_fail_memory(kernel->object.context, whole->kernel_name, (double)sizeof *made);
    made->declaration_hash = whole->declaration_hash;
    made->is_team = whole->is_team;
    made->threads = *threads;
    made->asked = whole->asked;
    memcpy(made->parameter, whole->parameter, sizeof made->parameter);
    made->inspection = whole->inspection;
    pti_inspection_hold(made->inspection);
    for (int o = 0; o < made->n_operands; o++)
        narrow_operand(&whole->operand[o], arrays, o, &made->operand[o]);
    if (!copy_sections(whole, made))
        PTI_TRY(pti_fail_memory(kernel->object.context, whole->kernel_name,
                                (double)sizeof *made->section * whole->n_sections));
    PTI_TRY(fill_roles(kernel->object.context, made));
done:
    return status;
}

/** Narrow what the program gave, too. */
static polytile_status narrow_given(const polytile_kernel *kernel, const pti_given *whole,
                                    pti_instance *narrowed) {
    polytile_status status;
    const size_t maps_bytes = (size_t)narrowed->n_operands * sizeof *whole->map;
    pti_given *given = narrowed->given = calloc(1, sizeof *given);
    if (given != NULL)
        given->map = malloc(maps_bytes + 1);
    if (given == NULL || given->map == NULL)
        return pti_fail_memory(kernel->object.context, narrowed->kernel_name, (double)maps_bytes);
    memcpy(given->map, whole->map, maps_bytes);
    given->is_united = whole->is_united;
    PTI_TRY(narrow_one(kernel, whole->instance, &narrowed->threads, NULL, &given->instance));
done:
    return status;
}

polytile_status pti_instance_narrow(const polytile_kernel *kernel, const pti_instance *whole,
                                    const polytile_domain *threads, polytile_array *const *arrays,
                                    pti_instance **narrowed) {
    polytile_status status;
    PTI_TRY(narrow_one(kernel, whole, threads, arrays, narrowed));
    if (whole->given != NULL)
        PTI_TRY(narrow_given(kernel, whole->given, *narrowed));
done:
    if (status != POLYTILE_OK) {
        pti_instance_free(*narrowed);
        *narrowed = NULL;
    }
    return status;
}
