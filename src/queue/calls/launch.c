#include "access/kernel.h"
#include "base/clock.h"
#include "launch/execute/team_server.h"
#include "partition/cost/demand.h"
#include "queue/calls/calls.h"
#include "queue/check_access.h"
#include "queue/looked_up.h"
#include "queue/over_group.h"
#include "queue/prepared.h"
#include "queue/queue.h"

#include <stdio.h>
#include <string.h>

static polytile_status refuse_launch(const polytile_queue *queue, const polytile_kernel *kernel,
                                     const polytile_domain *domain) {
    char where[128];
    snprintf(where, sizeof where, "queue on %s", pti_queue_text(queue));
    return pti_kernel_check_launch(queue->object.context, where, kernel, domain);
}

static polytile_status check_launched_kernel(const polytile_queue *queue,
                                             const polytile_kernel *kernel,
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
    if (kernel->declaration->n_arrays > PTI_MAX_OPERANDS)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED, "%s: %d arrays; a kernel can have %d",
                        polytile_kernel_get_name(kernel), kernel->declaration->n_arrays,
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
        if (!pti_queue_has_array(queue, p) || queue->array[p].is_scratch ||
            strcmp(array->name, name) != 0)
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

/** Return the array of the queue that has an array's elements; NULL: none. */
static polytile_array *find_holder(const polytile_queue *queue, polytile_array *array) {
    while (array != NULL && array->queue != queue)
        array = array->base;
    return array;
}

/** Find the array that was given for each operand, in a list or by its name, and that of the queue
 * which has its elements; NULL: scratch. */
static polytile_status find_arrays(const polytile_queue *queue, const polytile_kernel *kernel,
                                   int n_arrays, polytile_array *const *arrays,
                                   polytile_array **given, polytile_array **found) {
    polytile_array *listed[PTI_MAX_OPERANDS], *holder[PTI_MAX_OPERANDS];
    bool is_by_name = n_arrays == 0 && arrays == NULL;
    int n_declared = polytile_kernel_get_n_arrays(kernel);
    polytile_status status = POLYTILE_OK;
    if (!is_by_name)
        PTI_TRY(pti_kernel_check_arrays(queue->object.context, kernel, n_arrays, arrays));
    for (int a = 0; a < n_declared; a++) {
        if (is_by_name)
            PTI_TRY(find_by_name(queue, kernel, a, &holder[a]));
        else if ((holder[a] = find_holder(queue, arrays[a])) == NULL)
            PTI_TRY(refuse_array(queue, kernel, a, arrays[a]));
        listed[a] = is_by_name ? holder[a] : arrays[a];
    }
    pti_kernel_list_operands(kernel, listed, given);
    pti_kernel_list_operands(kernel, holder, found);
done:
    return status;
}

/** Append a launch. The item takes the part, also after an error. Then the program goes on with the
 * launch before, which may have left messages. */
static polytile_status append_launch(polytile_queue *queue, const pti_request *request,
                                     pti_prepared *prepared, pti_server_part *part) {
    const bool is_programs = request->part == NULL && part != NULL;
    pti_item *item = pti_item_create_launch(prepared, request->values, part);
    if (item == NULL) {
        pti_team_server_end(part, NULL);
        return pti_fail_memory(queue->object.context, prepared->instance->kernel_name,
                               sizeof *item);
    }
    if (is_programs)
        pti_queue_set_server(queue, pti_server_of_part(part));
    pti_queue_note_written(queue, prepared);
    pti_queue_append(queue, item);
    return POLYTILE_OK;
}

/** Find the slots of a launch, if it is one of a team kernel: those of the request, or all. */
static polytile_status find_part(const pti_request *request, const pti_prepared *prepared,
                                 pti_server_part **part) {
    *part = request->part;
    return request->part != NULL
               ? POLYTILE_OK
               : pti_team_server_create(request->kernel, &prepared->instance->threads,
                                        request->options, true, part);
}

/** Prepare and queue a launch on the queue's own device. */
static polytile_status prepare_and_append(polytile_queue *queue, const pti_request *request) {
    polytile_status status;
    pti_prepared *prepared;
    pti_server_part *part = request->part;
    PTI_TRY(pti_queue_prepare(queue, request, &prepared));
    PTI_TRY(pti_queue_check_access(queue, request, prepared));
    PTI_TRY(find_part(request, prepared, &part));
    return append_launch(queue, request, prepared, part);
done:
    pti_team_server_end(part, NULL);
    return status;
}

polytile_status pti_queue_launch_box(polytile_queue *queue, const pti_box_launch *launch,
                                     const polytile_domain *box, polytile_array *const *arrays) {
    const polytile_launch_options options = {.plan = launch->whole->options};
    return prepare_and_append(queue, &(pti_request){.kernel = launch->kernel,
                                                    .domain = box,
                                                    .arrays = arrays,
                                                    .options = &options,
                                                    .parameter = launch->whole->instance->parameter,
                                                    .values = launch->values,
                                                    .whole = launch->whole->instance,
                                                    .part = launch->part});
}

/** Find the values of a launch's parameters: those that sections need, and those of the body. */
static polytile_status find_values(const polytile_kernel *kernel,
                                   const polytile_launch_options *options, int64_t *parameter,
                                   pti_value *values) {
    polytile_context *ctx = kernel->object.context;
    polytile_status status = POLYTILE_OK;
    memset(parameter, 0, POLYTILE_MAX_PARAMETERS * sizeof *parameter);
    if (options->n_parameters == 0 && kernel->declaration->n_parameters == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_parameters_bind(ctx, kernel, options->n_parameters, options->parameters, values));
    if (kernel->has_parameters_in_subscripts)
        PTI_TRY(pti_parameters_match(ctx, kernel->declaration, options->n_parameters,
                                     options->parameters, parameter));
done:
    return status;
}

/** What a launch's arguments name: an array an operand, and values of parameters. */
typedef struct launch_arguments {
    polytile_array *array[PTI_MAX_OPERANDS];    /* of the queue */
    polytile_array *given[PTI_MAX_OPERANDS];    /* the same, or views of them */
    int64_t parameter[POLYTILE_MAX_PARAMETERS]; /* for sections */
    pti_value values[POLYTILE_MAX_PARAMETERS];  /* for the body */
} launch_arguments;

/** Find what a request points to, in *found. */
static polytile_status find_arguments(const polytile_queue *queue, const pti_request *request,
                                      int n_arrays, polytile_array *const *arrays,
                                      launch_arguments *found) {
    polytile_status status;
    PTI_TRY(check_launched_kernel(queue, request->kernel, request->domain));
    PTI_TRY(find_arrays(queue, request->kernel, n_arrays, arrays, found->given, found->array));
    PTI_TRY(find_values(request->kernel, request->options, found->parameter, found->values));
done:
    return status;
}

/** Detach an array that members hold in parts, and attach it again, even if detaching fails.
 * Returns the first error. */
static polytile_status detach_and_reattach(polytile_queue *queue, polytile_array *array) {
    polytile_context *ctx = queue->object.context;
    pti_error first = {0};
    pti_error_keep(&first, ctx, polytile_queue_detach(queue, 1, &array));
    pti_error_keep(&first, ctx, polytile_queue_attach(queue, 1, &array));
    return pti_error_restore(ctx, &first);
}

/** Let every host have the index arrays that earlier launches of a queue over several write: the
 * inspector reads them there. */
static polytile_status renew_index_arrays(polytile_queue *queue, const pti_request *request) {
    const polytile_declaration *declaration = request->kernel->declaration;
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < declaration->n_arrays; o++) {
        polytile_array *array = request->arrays[o];
        if (!pti_is_index_array(declaration, o) || array == NULL || array->is_internal ||
            !queue->array[array->position].is_written)
            continue;
        pti_queue_say_awaited(queue, request->kernel, array);
        PTI_TRY(detach_and_reattach(queue, array));
    }
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
    launch_arguments found;
    const pti_request request = {.kernel = kernel,
                                 .domain = domain,
                                 .arrays = found.array,
                                 .given = found.given,
                                 .options = options == NULL ? &defaults : options,
                                 .parameter = found.parameter,
                                 .values = found.values};
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    status = find_arguments(queue, &request, n_arrays, arrays, &found);
    if (queue->group_functions != NULL && status == POLYTILE_OK)
        status = renew_index_arrays(queue, &request);
    if (queue->group_functions != NULL)
        status = queue->group_functions->launch(queue, &request, status);
    else if (status == POLYTILE_OK)
        status = prepare_and_append(queue, &request);
    queue->enqueue_s += pti_now_s() - start_s;
    return status;
}
