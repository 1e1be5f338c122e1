#include "access/declare/kernel.h"
#include "base/clock.h"
#include "base/plural.h"
#include "partition/cost/demand.h"
#include "queue/check_access.h"
#include "queue/member.h"
#include "queue/over_team.h"

#include <stdio.h>
#include <string.h>

static polytile_status refuse_launch(const polytile_queue *queue, const polytile_kernel *kernel,
                                     const polytile_domain *domain) {
    char where[128];
    snprintf(where, sizeof where, "queue on %s", pti_queue_text(queue));
    return pti_kernel_check_launch(queue->object.context, where, kernel, domain);
}

static polytile_status check_kernel(const polytile_queue *queue, const polytile_kernel *kernel,
                                    const polytile_domain *domain) {
    polytile_context *ctx = queue->object.context;
    const char *device = pti_queue_text(queue);
    if (kernel == NULL || domain == NULL)
        return refuse_launch(queue, kernel, domain);
    if (kernel->object.context != ctx)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the kernel and the queue on %s are of different contexts; create both "
                        "in one",
                        polytile_kernel_get_name(kernel), device);
    if (polytile_kernel_get_n_arrays(kernel) > PTI_MAX_OPERANDS)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED, "%s: %d arrays; a kernel can have %d",
                        polytile_kernel_get_name(kernel), polytile_kernel_get_n_arrays(kernel),
                        (int)PTI_MAX_OPERANDS);
    return POLYTILE_OK;
}

/** The array of the queue that has an operand's name. */
static polytile_status find_by_name(const polytile_queue *queue, const polytile_kernel *kernel,
                                    int operand, polytile_array **found) {
    polytile_context *ctx = queue->object.context;
    const char *name = polytile_kernel_get_array_name(kernel, operand);
    *found = NULL;
    for (int p = 0; p < queue->n_arrays; p++) {
        polytile_array *array = queue->array[p].array;
        if (!pti_queue_has_array(queue, p) || strcmp(array->name, name) != 0)
            continue;
        if (*found != NULL)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "%s: two arrays of the queue on %s have the name %s; give the arrays "
                            "as a list",
                            polytile_kernel_get_name(kernel), pti_queue_text(queue), name);
        *found = array;
    }
    if (*found != NULL)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: no array of the queue on %s has the name %s; attach one, or give the "
                    "arrays as a list",
                    polytile_kernel_get_name(kernel), pti_queue_text(queue), name);
}

/** Say why an array is not the queue's. */
static polytile_status refuse_array(const polytile_queue *queue, const polytile_kernel *kernel,
                                    int operand, const polytile_array *array) {
    polytile_context *ctx = queue->object.context;
    const char *name = polytile_kernel_get_name(kernel), *device = pti_queue_text(queue);
    if (array == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: array %d (%s) is NULL", name, operand,
                        polytile_kernel_get_array_name(kernel, operand));
    if (array->object.context != ctx)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: array %s is of another context than the queue on %s; create both in "
                        "one",
                        name, array->name, device);
    if (array->queue != NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: array %s is %s another queue, on %s; launch there, or use an array of "
                        "this one",
                        name, array->name, array->is_internal ? "of" : "attached to",
                        pti_queue_text(array->queue));
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: array %s is not attached to the queue on %s; attach it first", name,
                    array->name, device);
}

/** Find the array of each operand, in a list or by its name. */
static polytile_status find_arrays(const polytile_queue *queue, const polytile_kernel *kernel,
                                   int n_arrays, polytile_array *const *arrays,
                                   polytile_array **found) {
    bool is_by_name = n_arrays == 0 && arrays == NULL;
    int n_declared = polytile_kernel_get_n_arrays(kernel);
    polytile_status status = POLYTILE_OK;
    if (!is_by_name)
        PTI_TRY(pti_kernel_check_arrays(queue->object.context, kernel, n_arrays, arrays));
    for (int a = 0; a < n_declared; a++) {
        if (is_by_name)
            PTI_TRY(find_by_name(queue, kernel, a, &found[a]));
        else if (arrays[a] == NULL || arrays[a]->queue != queue)
            PTI_TRY(refuse_array(queue, kernel, a, arrays[a]));
        else
            found[a] = arrays[a];
    }
done:
    return status;
}

static polytile_status append_launch(polytile_queue *queue, pti_prepared *prepared,
                                     const pti_value *values) {
    pti_item *item = pti_item_create_launch(prepared, values);
    if (item == NULL)
        return pti_fail_memory(queue->object.context, prepared->instance->kernel_name,
                               sizeof *item);
    pti_queue_append(queue, item);
    return POLYTILE_OK;
}

/** Prepare and queue a launch on the queue's own device. */
static polytile_status prepare_and_append(polytile_queue *queue, const pti_request *request) {
    polytile_status status;
    pti_prepared *prepared;
    PTI_TRY(pti_queue_prepare(queue, request, &prepared));
    PTI_TRY(pti_queue_check_access(queue, request, prepared));
    PTI_TRY(append_launch(queue, prepared, request->values));
done:
    return status;
}

polytile_status pti_queue_launch_box(polytile_queue *queue, const polytile_kernel *kernel,
                                     const pti_prepared *whole, const pti_value *values,
                                     const polytile_domain *box, polytile_array *const *arrays) {
    const polytile_launch_options options = {.plan = whole->options};
    return prepare_and_append(queue, &(pti_request){.kernel = kernel,
                                                    .domain = box,
                                                    .arrays = arrays,
                                                    .options = &options,
                                                    .parameter = whole->instance->parameter,
                                                    .values = values,
                                                    .whole = whole->instance});
}

/** Find the values of a launch's parameters: those that sections need, and those of the body. */
static polytile_status find_values(const polytile_kernel *kernel,
                                   const polytile_launch_options *options, int64_t *parameter,
                                   pti_value *values) {
    polytile_context *ctx = kernel->object.context;
    polytile_status status = POLYTILE_OK;
    if (options->n_parameters == 0 && kernel->declaration->n_parameters == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_parameters_bind(ctx, kernel, options->n_parameters, options->parameters, values));
    if (kernel->has_parameters_in_subscripts)
        PTI_TRY(pti_parameters_match(ctx, kernel->declaration, options->n_parameters,
                                     options->parameters, parameter));
done:
    return status;
}

polytile_status polytile_queue_launch(polytile_queue *queue, const polytile_kernel *kernel,
                                      const polytile_domain *domain, int n_arrays,
                                      polytile_array *const *arrays,
                                      const polytile_launch_options *options) {
    static const polytile_launch_options defaults = {0};
    double start_s = pti_now_s();
    polytile_status status;
    polytile_array *found[PTI_MAX_OPERANDS];
    int64_t parameter[POLYTILE_MAX_PARAMETERS] = {0};
    pti_value values[POLYTILE_MAX_PARAMETERS];
    const pti_request request = {.kernel = kernel,
                                 .domain = domain,
                                 .arrays = found,
                                 .options = options == NULL ? &defaults : options,
                                 .parameter = parameter,
                                 .values = values};
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    PTI_TRY(check_kernel(queue, kernel, domain));
    PTI_TRY(find_arrays(queue, kernel, n_arrays, arrays, found));
    PTI_TRY(find_values(kernel, request.options, parameter, values));
    PTI_TRY(queue->team_functions != NULL ? queue->team_functions->launch(queue, &request)
                                          : prepare_and_append(queue, &request));
done:
    queue->enqueue_s += pti_now_s() - start_s;
    return status;
}
