#include "queue/looked_up.h"

#include "queue/cache.h"
#include "queue/member.h"

static polytile_status refuse_guarded(const polytile_queue *queue, const pti_request *request,
                                      int operand) {
    polytile_context *ctx = queue->object.context;
    const polytile_array *array = request->arrays[operand];
    const pti_queued_array *queued = &queue->array[array->position];
    const char *kernel = polytile_kernel_get_name(request->kernel);
    const char *name = request->kernel->declaration->array_name[operand];
    if (queued->is_guarded)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: %s is looked up in subscripts, but POLYTILE_CHECK=attach closes its "
                        "memory; leave out attach",
                        kernel, name);
    return POLYTILE_OK;
}

/** Queue that an array comes to the host, where the queue has memory of its own. */
static polytile_status fetch_array(polytile_queue *queue, polytile_array *array) {
    polytile_status status;
    pti_boxes whole = {0};
    if (queue->residency == NULL)
        return POLYTILE_OK;
    pti_boxes_append(&whole, &array->domain);
    status = whole.failed ? pti_fail_memory(queue->object.context, array->name, sizeof *whole.box)
                          : pti_queue_fetch(queue, array, &whole);
    pti_boxes_free(&whole);
    return status;
}

void pti_queue_say_awaited(const polytile_queue *queue, const polytile_kernel *kernel,
                           const polytile_array *array) {
    pti_log(
        queue->object.context, PTI_LOG_INFO,
        "%s: waits for %s, which subscripts hold and an earlier launch of the queue on %s writes",
        polytile_kernel_get_name(kernel), array->name, pti_queue_text(queue));
}

/** Wait for the launches that write an index array, and forget what was found in its former
 * elements. */
static polytile_status await_index_array(polytile_queue *queue, const pti_request *request,
                                         polytile_array *array) {
    polytile_status status;
    pti_queued_array *queued = &queue->array[array->position];
    if (!queued->is_written || queue->group_functions != NULL)
        return POLYTILE_OK;
    pti_queue_say_awaited(queue, request->kernel, array);
    PTI_TRY(fetch_array(queue, array));
    pti_queue_wait_for(queue, PTI_WANT_RELATED, 1, &array);
    PTI_TRY(pti_queue_take_error(queue));
    pti_queue_forget_prepared(queue, array->position);
    pti_array_forget_indices(array);
    queued->is_written = false;
done:
    return status;
}

static polytile_status await_operand(polytile_queue *queue, const pti_request *request, int o) {
    polytile_status status;
    PTI_TRY(refuse_guarded(queue, request, o));
    PTI_TRY(await_index_array(queue, request, request->arrays[o]));
done:
    return status;
}

polytile_status pti_queue_await_looked_up(polytile_queue *queue, const pti_request *request) {
    const polytile_declaration *declaration = request->kernel->declaration;
    polytile_status status = POLYTILE_OK;
    if (!pti_declaration_is_indirect(declaration) || request->whole != NULL)
        return POLYTILE_OK;
    for (int o = 0; o < declaration->n_arrays; o++)
        if (pti_is_index_array(declaration, o))
            PTI_TRY(await_operand(queue, request, o));
done:
    return status;
}

void pti_queue_note_written(polytile_queue *queue, const pti_prepared *prepared) {
    for (int o = 0; o < prepared->instance->n_operands; o++)
        if (prepared->instance->operand[o].writes)
            queue->array[prepared->position[o]].is_written = true;
}
