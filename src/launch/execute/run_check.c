#include "launch/execute/run_check.h"

#include "access/array/array.h"
#include "access/array/type.h"
#include "access/kernel.h"
#include "access/pieces/shear.h"
#include "access/set/boxes.h"
#include "base/plural.h"
#include "launch/execute/run_place.h"

#include <stdlib.h>
#include <string.h>

polytile_status pti_run_check_kernel(const polytile_device *device, const polytile_kernel *kernel) {
    polytile_context *ctx = device->object.context;
    const char *wanted = "";
    if (kernel->object.context != ctx)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the kernel and %s are of different contexts; create both in one",
                        polytile_kernel_get_name(kernel), device->text);
    if (kernel->implementation.specialise != NULL)
        return POLYTILE_OK;
    const bool can_run = device->functions->can_run(&kernel->implementation, &wanted);
    if (!can_run && kernel->implementation.team != NULL)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: nvcc did not compile this team kernel, whose slots %s cannot run "
                        "therefore; compile its source as CUDA, or open host",
                        polytile_kernel_get_name(kernel), device->text);
    if (!can_run)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: %s runs %s and the kernel has none; give one to "
                        "polytile_kernel_create()",
                        polytile_kernel_get_name(kernel), device->text, wanted);
    return POLYTILE_OK;
}

/** Refuse a plan that copies where arrays are used in place, and the other way round. */
static polytile_status check_place(const polytile_plan *plan, const polytile_device *device,
                                   const polytile_kernel *kernel, polytile_array *const *arrays) {
    polytile_context *ctx = device->object.context;
    const char *name = plan->instance->kernel_name;
    bool on_gpu, in_place = plan->schedule->in_place;
    polytile_status status =
        pti_run_find_place(device, kernel, polytile_kernel_get_n_arrays(kernel), arrays, &on_gpu);
    if (status != POLYTILE_OK || in_place == on_gpu || (in_place && device->reaches_host))
        return status;
    if (on_gpu)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the plan copies arrays, and those given lie in the memory of a GPU, "
                        "where they are used in place; plan without a limit",
                        name);
    if (!in_place)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: the plan has no limit and would run in place, but %s has a memory of "
                    "its own; plan with limit_bytes of at most %lld",
                    name, device->text, (long long)device->limit_bytes);
}

static polytile_status check_plan(const polytile_plan *plan, const polytile_device *device,
                                  const polytile_kernel *kernel) {
    polytile_context *ctx = device->object.context;
    const char *name = plan->instance->kernel_name;
    if (plan->object.context != ctx)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the plan and %s are of different contexts; create both in one", name,
                        device->text);
    if (plan->chain != NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the plan is of a chain of %d %s, which no run of one kernel can make; "
                        "launch through a queue",
                        name, plan->chain_summary.n_launches,
                        pti_plural(plan->chain_summary.n_launches, "launch", "launches"));
    if (strcmp(polytile_kernel_get_name(kernel), name) != 0 ||
        kernel->declaration->n_arrays != plan->owned_instance->n_operands)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the plan was made for %s; give the kernel that was planned",
                        polytile_kernel_get_name(kernel), name);
    if (kernel->declaration_hash != plan->instance->declaration_hash)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the plan was made for another declaration of that name, which touches "
                        "other elements; plan for this kernel",
                        name);
    if (pti_plan_is_in_pieces(plan) && !pti_takes_pieces(&kernel->implementation))
        return pti_fail(
            ctx, POLYTILE_INVALID,
            "%s: the plan holds arrays in pieces, and the kernel has a function by hand "
            "or a launcher, which take arrays in one; plan with this kernel",
            name);
    if (plan->schedule->n_lanes > 1 && !pti_may_run_concurrently(&kernel->implementation))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the plan runs superblocks beside each other in %d lanes, and the "
                        "kernel's launcher does not say that it may be called so "
                        "(cuda_launcher_overlaps); plan with this kernel",
                        name, plan->schedule->n_lanes);
    return POLYTILE_OK;
}

polytile_status pti_run_check_writable(polytile_context *ctx, const pti_instance *instance,
                                       int operand, const polytile_array *array) {
    if (!instance->operand[operand].writes || !array->read_only)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: array %s is written, but its file was opened for reading; open it as "
                    "writable",
                    instance->kernel_name, array->name);
}

const polytile_array *pti_run_find_attached(const polytile_array *array) {
    uint64_t first;
    const polytile_array *other = pti_array_next(array->object.context, NULL);
    while (other != NULL && (other == array || other->queue == NULL || other->is_internal ||
                             pti_run_shared_bytes(array, other, &first) == 0))
        other = pti_array_next(array->object.context, other);
    return other;
}

/** Refuse memory of attached arrays, which a queue's thread may read or write. That thread itself
 * may: a launcher may use other devices for the elements that it gets. */
static polytile_status check_not_attached(polytile_context *ctx, const pti_instance *instance,
                                          const polytile_array *array) {
    const polytile_array *other = pti_errors_are_redirected() ? NULL : pti_run_find_attached(array);
    if (other == NULL)
        return POLYTILE_OK;
    uint64_t first, n_bytes = pti_run_shared_bytes(array, other, &first);
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: array %s overlaps array %s in memory (%llu bytes, from byte %llu of %s), "
                    "which is attached to a queue; detach that first",
                    instance->kernel_name, array->name, other->name, (unsigned long long)n_bytes,
                    (unsigned long long)first, array->name);
}

/** Return whether an array is planned as a part of another one as the one that was planned for. */
static bool is_same_view(const pti_instance *instance, int operand, const polytile_array *array) {
    const polytile_array *planned = pti_array_planned((polytile_array *)(uintptr_t)array);
    pti_index_map map;
    if (!pti_box_equals(&planned->domain, pti_operand_array_domain(&instance->operand[operand])))
        return false;
    return planned == array || (instance->given != NULL && pti_array_map_to(array, planned, &map) &&
                                pti_index_map_equals(&map, &instance->given->map[operand]));
}

/** Check that an array which a run is given is free, and as the plan has it. */
static polytile_status check_given_array(polytile_context *ctx, const pti_instance *instance,
                                         int operand, const polytile_array *array) {
    const pti_operand *planned = &pti_instance_as_given(instance)->operand[operand];
    const char *kernel = instance->kernel_name;
    if (array == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: array %d (%s) is NULL", kernel, operand,
                        planned->name);
    if (array->object.context != ctx)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: array %s is of another context", kernel,
                        array->name);
    if (array->queue != NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: array %s is %s a queue; %s", kernel,
                        array->name, array->is_internal ? "of" : "attached to",
                        array->is_internal ? "launch through the queue" : "detach it first");
    if (array->type != planned->type ||
        !pti_box_equals(&array->domain, pti_operand_array_domain(planned)) ||
        !is_same_view(instance, operand, array))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: array %s has another type or domain than was planned for %s; make a "
                        "plan for it",
                        kernel, array->name, planned->name);
    if (pti_array_memory(array) == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: array %s is only described and has no memory; wrap memory to run",
                        kernel, array->name);
    if (pti_run_check_writable(ctx, instance, operand, array) != POLYTILE_OK ||
        check_not_attached(ctx, instance, array) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (planned->reads)
        pti_array_warn_incomplete(array, kernel);
    return POLYTILE_OK;
}

/** Return whether an array suits a body: by types if both are known, else by sizes, since C has no
 * type for f16 and bf16. */
static bool suits_body(const polytile_array *array, const polytile_view_shape *body) {
    const polytile_type taken = pti_type_of(body->number, body->element_bytes);
    if (array->element_bytes != body->element_bytes)
        return false;
    return array->type < 0 || taken < 0 || array->type == taken ||
           (taken == POLYTILE_U16 && (array->type == POLYTILE_F16 || array->type == POLYTILE_BF16));
}

static polytile_status refuse_type(const polytile_kernel *kernel, int operand,
                                   const polytile_array *array) {
    char has[PTI_TYPE_TEXT_BYTES], taken[PTI_TYPE_TEXT_BYTES];
    const polytile_view_shape *body = &kernel->implementation.views[operand];
    pti_type_format(array->type, has);
    pti_type_format(pti_type_of(body->number, body->element_bytes), taken);
    return pti_fail(kernel->object.context, POLYTILE_INVALID,
                    "%s: array %s has elements of %s, and the kernel body's view %d (%s) elements "
                    "of %s; give an array of %s, or a body for %s",
                    polytile_kernel_get_name(kernel), array->name, has, operand,
                    kernel->declaration->array_name[operand], taken, taken, has);
}

polytile_status pti_run_check_view(const polytile_kernel *kernel, int operand,
                                   const polytile_array *array) {
    polytile_context *ctx = kernel->object.context;
    const polytile_view_shape *views = kernel->implementation.views;
    const char *name = polytile_kernel_get_name(kernel);
    if (views == NULL)
        return POLYTILE_OK;
    const polytile_view_shape *body = &views[operand];
    if (!suits_body(array, body))
        return refuse_type(kernel, operand, array);
    if (array->domain.n_dims != body->n_dims)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: array %s has %d %s, and the kernel body's view %d (%s) has %d; "
                        "write the body's view with the array's number of dimensions",
                        name, array->name, array->domain.n_dims,
                        pti_plural(array->domain.n_dims, "dimension", "dimensions"), operand,
                        kernel->declaration->array_name[operand], body->n_dims);
    return POLYTILE_OK;
}

/** Return what of a kernel takes no steps; NULL: all does. */
static const char *lacks_steps(const polytile_implementation *implementation) {
    if (implementation->team != NULL)
        return "team";
    if (implementation->host_launcher != NULL || implementation->cuda_launcher != NULL)
        return "launcher";
    return implementation->takes_steps || implementation->cuda == NULL ? NULL : "CUDA kernel";
}

polytile_status pti_run_check_steps(const polytile_kernel *kernel, const pti_instance *instance) {
    const char *lacking = lacks_steps(&kernel->implementation);
    if (!pti_instance_has_steps(instance) || lacking == NULL)
        return POLYTILE_OK;
    return pti_fail(
        kernel->object.context, POLYTILE_UNSUPPORTED,
        "%s: the launch domain has steps, which its %s does not know; write its body with "
        "POLYTILE_KERNEL(), or put the steps into the subscripts",
        polytile_kernel_get_name(kernel), lacking);
}

/** Return the array whose indices an array's are: that of which a part was selected. */
static const polytile_array *indexed_by(const polytile_array *array) {
    pti_index_map same = pti_index_map_identity(array->domain.n_dims);
    while (array->base != NULL && array->maps_indices &&
           pti_index_map_equals(&array->to_base, &same))
        array = array->base;
    return array;
}

/** Return whether two arrays are parts of one that have no element in common. */
static bool are_apart_in_one(const polytile_array *a, const polytile_array *b) {
    polytile_domain common;
    return indexed_by(a) == indexed_by(b) && !pti_box_intersect(&a->domain, &b->domain, &common);
}

uint64_t pti_run_shared_bytes(const polytile_array *a, const polytile_array *b, uint64_t *first) {
    uintptr_t a_begin = (uintptr_t)pti_array_memory(a);
    uintptr_t b_begin = (uintptr_t)pti_array_memory(b);
    uintptr_t a_end = a_begin + (uintptr_t)pti_array_span_bytes(a);
    uintptr_t b_end = b_begin + (uintptr_t)pti_array_span_bytes(b);
    *first = 0;
    if (are_apart_in_one(a, b))
        return 0;
    uintptr_t begin = a_begin > b_begin ? a_begin : b_begin;
    uintptr_t end = a_end < b_end ? a_end : b_end;
    *first = begin - a_begin;
    return begin < end ? end - begin : 0;
}

static polytile_status check_array_pair(polytile_context *ctx, const pti_instance *instance,
                                        polytile_array *const *arrays, int one, int other) {
    const polytile_array *a = arrays[one], *b = arrays[other];
    const pti_operand *first_one = &instance->operand[one], *second = &instance->operand[other];
    bool one_writes = first_one->writes;
    uint64_t first;
    uint64_t n_bytes = pti_run_shared_bytes(a, b, &first);
    if (n_bytes == 0 || (!one_writes && !second->writes) ||
        (a == b && first_one->same_array == second->same_array))
        return POLYTILE_OK;
    if (a == b)
        return pti_fail(
            ctx, POLYTILE_INVALID,
            "%s: array %s is given for both %s and %s, of which one is written, and the "
            "plan was made for two arrays; plan with this one, which proves that their "
            "elements differ",
            instance->kernel_name, a->name, first_one->name, second->name);
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: arrays %s and %s overlap in memory (%llu bytes, from byte %llu of %s) and "
                    "%s is written; give them memory of their own",
                    instance->kernel_name, a->name, b->name, (unsigned long long)n_bytes,
                    (unsigned long long)first, a->name, one_writes ? a->name : b->name);
}

static polytile_status check_overlaps(polytile_context *ctx, const pti_instance *instance,
                                      polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    for (int one = 0; one < instance->n_operands; one++) {
        for (int other = one + 1; other < instance->n_operands; other++)
            PTI_TRY(check_array_pair(ctx, instance, arrays, one, other));
    }
done:
    return status;
}

/** Describe what stands for scratch. */
static void describe_scratch(polytile_context *ctx, const pti_operand *operand,
                             polytile_array *array) {
    *array = (polytile_array){.name = operand->name,
                              .type = operand->type,
                              .element_bytes = operand->element_bytes,
                              .domain = operand->domain,
                              .state = PTI_ARRAY_COMPLETE};
    array->object.context = ctx;
}

static polytile_status list_operands(const polytile_kernel *kernel, const pti_instance *instance,
                                     polytile_array *const *arrays, pti_operand_arrays *list) {
    polytile_context *ctx = kernel->object.context;
    *list = (pti_operand_arrays){0};
    pti_kernel_list_operands(kernel, arrays, list->array);
    if (kernel->declaration->n_scratch == 0)
        return POLYTILE_OK;
    list->scratch = calloc((size_t)instance->n_operands, sizeof *list->scratch);
    if (list->scratch == NULL)
        return pti_fail_memory(ctx, instance->kernel_name,
                               instance->n_operands * (double)sizeof *list->scratch);
    for (int o = 0; o < instance->n_operands; o++)
        if (instance->operand[o].is_scratch) {
            describe_scratch(ctx, &instance->operand[o], &list->scratch[o]);
            list->array[o] = &list->scratch[o];
        }
    return POLYTILE_OK;
}

void pti_operand_arrays_free(pti_operand_arrays *list) {
    free(list->scratch);
    list->scratch = NULL;
}

polytile_status pti_run_check(const polytile_plan *plan, const polytile_device *device,
                              const polytile_kernel *kernel, polytile_array *const *arrays,
                              pti_operand_arrays *list) {
    polytile_context *ctx = device->object.context;
    const pti_instance *instance = plan->owned_instance;
    polytile_status status;
    PTI_TRY(pti_run_check_kernel(device, kernel));
    PTI_TRY(check_plan(plan, device, kernel));
    PTI_TRY(check_place(plan, device, kernel, arrays));
    PTI_TRY(pti_run_check_steps(kernel, instance));
    PTI_TRY(list_operands(kernel, instance, arrays, list));
    for (int o = 0; o < instance->n_operands; o++) {
        if (!instance->operand[o].is_scratch)
            PTI_TRY(check_given_array(ctx, instance, o, list->array[o]));
        PTI_TRY(pti_run_check_view(kernel, o, list->array[o]));
    }
    PTI_TRY(check_overlaps(ctx, instance, list->array));
done:
    return status;
}
