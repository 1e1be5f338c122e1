#include "queue/looked_up.h"

#include "access/declare/kernel.h"

static polytile_status check_index_array(const polytile_queue *queue, const pti_request *request,
                                         int operand) {
    polytile_context *ctx = queue->object.context;
    const polytile_array *array = request->arrays[operand];
    const pti_queued_array *queued = &queue->array[array->position];
    const char *kernel = polytile_kernel_get_name(request->kernel);
    const char *name = request->kernel->declaration->array_name[operand];
    if (queued->is_written)
        return pti_fail(
            ctx, POLYTILE_UNSUPPORTED,
            "%s: %s is looked up in subscripts, and an earlier launch of the queue on %s "
            "writes %s, so that the host does not know what it holds; detach %s and "
            "attach it again before this launch",
            kernel, name, pti_queue_text(queue), array->name, array->name);
    if (queued->is_guarded)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: %s is looked up in subscripts, but POLYTILE_CHECK=attach closes its "
                        "memory; leave out attach",
                        kernel, name);
    return POLYTILE_OK;
}

polytile_status pti_queue_check_looked_up(const polytile_queue *queue, const pti_request *request) {
    const polytile_declaration *declaration = request->kernel->declaration;
    polytile_status status = POLYTILE_OK;
    if (!pti_declaration_is_indirect(declaration))
        return POLYTILE_OK;
    if (queue->team_functions != NULL)
        return pti_fail(queue->object.context, POLYTILE_UNSUPPORTED,
                        "%s: its subscripts hold elements of index arrays, which queues of several "
                        "devices or ranks do not know; open a queue on one device, not %s",
                        declaration->name, pti_queue_text(queue));
    for (int o = 0; o < declaration->n_arrays; o++)
        if (pti_is_index_array(declaration, o))
            PTI_TRY(check_index_array(queue, request, o));
done:
    return status;
}

void pti_queue_note_written(polytile_queue *queue, const pti_prepared *prepared) {
    for (int o = 0; o < prepared->instance->n_operands; o++)
        if (prepared->instance->operand[o].writes)
            queue->array[prepared->position[o]].is_written = true;
}
