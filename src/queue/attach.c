#include "launch/run_check.h"
#include "queue/leave.h"
#include "queue/queue.h"

static const char *text_of(const polytile_queue *queue) {
    return queue->device->text;
}

static polytile_status check_list(const polytile_queue *queue, const char *action, int n_arrays,
                                  polytile_array *const *arrays) {
    polytile_context *ctx = queue->object.context;
    if (n_arrays < 1 || arrays == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "queue on %s: %d arrays to %s; give at least one, as POLYTILE_ARRAYS(x, y)",
                        text_of(queue), arrays == NULL ? 0 : n_arrays, action);
    for (int a = 0; a < n_arrays; a++) {
        if (arrays[a] == NULL)
            return pti_fail(ctx, POLYTILE_INVALID, "queue on %s: array %d of %d to %s is NULL",
                            text_of(queue), a, n_arrays, action);
        for (int b = 0; b < a; b++) {
            if (arrays[a] == arrays[b])
                return pti_fail(ctx, POLYTILE_INVALID,
                                "queue on %s: array %s is in the list to %s twice, as number %d "
                                "and %d; give it once",
                                text_of(queue), arrays[a]->name, action, b, a);
        }
    }
    return POLYTILE_OK;
}

static polytile_status refuse_held(const polytile_queue *queue, const polytile_array *array) {
    polytile_context *ctx = queue->object.context;
    const char *name = array->name;
    if (array->is_internal)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "queue on %s: array %s is internal to %s queue and cannot be attached",
                        text_of(queue), name, array->queue == queue ? "this" : "another");
    if (array->queue == queue)
        return pti_fail(ctx, POLYTILE_INVALID, "queue on %s: array %s is attached already",
                        text_of(queue), name);
    return pti_fail(ctx, POLYTILE_INVALID,
                    "queue on %s: array %s is attached to another queue, on %s; detach it there "
                    "first",
                    text_of(queue), name, text_of(array->queue));
}

/** One array by itself. */
static polytile_status check_array(const polytile_queue *queue, const polytile_array *array) {
    polytile_context *ctx = queue->object.context;
    if (array->object.context != ctx)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "queue on %s: array %s is of another context; create both in one",
                        text_of(queue), array->name);
    if (array->queue != NULL)
        return refuse_held(queue, array);
    if (array->data == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "queue on %s: array %s is only described and has no memory; wrap memory to "
                        "attach it",
                        text_of(queue), array->name);
    return POLYTILE_OK;
}

static polytile_status check_apart(const polytile_queue *queue, const polytile_array *one,
                                   const polytile_array *other) {
    uint64_t first;
    uint64_t n_bytes = pti_run_shared_bytes(one, other, &first);
    if (n_bytes == 0)
        return POLYTILE_OK;
    return pti_fail(queue->object.context, POLYTILE_INVALID,
                    "queue on %s: arrays %s and %s overlap in memory (%llu bytes, from byte %llu "
                    "of %s)%s%s; attach one at a time",
                    text_of(queue), one->name, other->name, (unsigned long long)n_bytes,
                    (unsigned long long)first, one->name,
                    other->queue == NULL ? "" : ", and the latter is attached to a queue on ",
                    other->queue == NULL ? "" : text_of(other->queue));
}

/** The array number of a list, against those before it and those that any queue of the context
 * holds. */
static polytile_status check_overlaps(const polytile_queue *queue, int number,
                                      polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < number; a++)
        PTI_TRY(check_apart(queue, arrays[number], arrays[a]));
    const polytile_array *attached = pti_run_find_attached(arrays[number]);
    if (attached != NULL)
        PTI_TRY(check_apart(queue, arrays[number], attached));
done:
    return status;
}

static void warn_incomplete(const polytile_array *array) {
    if (!array->complete)
        pti_log(array->object.context, PTI_LOG_WARN,
                "array %s: attached although a failed run left it incomplete", array->name);
}

/** All or none. */
static polytile_status hold_all(polytile_queue *queue, int n_arrays,
                                polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    int n_taken = 0;
    pti_queue_claim(queue);
    for (; n_taken < n_arrays; n_taken++)
        PTI_TRY(pti_queue_hold(queue, arrays[n_taken]));
done:
    while (status != POLYTILE_OK && n_taken > 0)
        pti_queue_let_go(queue, arrays[--n_taken]);
    pti_queue_unclaim(queue);
    return status;
}

polytile_status polytile_queue_attach(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    PTI_TRY(pti_queue_enter(queue));
    PTI_TRY(check_list(queue, "attach", n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++) {
        PTI_TRY(check_array(queue, arrays[a]));
        PTI_TRY(check_overlaps(queue, a, arrays));
    }
    PTI_TRY(hold_all(queue, n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++)
        warn_incomplete(arrays[a]);
done:
    return status;
}

static polytile_status check_attached(const polytile_queue *queue, const polytile_array *array) {
    polytile_context *ctx = queue->object.context;
    if (array->queue != queue)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "queue on %s: array %s is not attached to it; nothing was detached",
                        text_of(queue), array->name);
    if (array->is_internal)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "queue on %s: array %s is internal and cannot be detached; "
                        "polytile_array_destroy() ends it",
                        text_of(queue), array->name);
    return POLYTILE_OK;
}

polytile_status polytile_queue_detach(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    PTI_TRY(pti_queue_enter(queue));
    PTI_TRY(check_list(queue, "detach", n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++)
        PTI_TRY(check_attached(queue, arrays[a]));
    for (int a = 0; a < n_arrays; a++)
        pti_queue_begin_leaving(queue, arrays[a]);
    pti_queue_finish_leaving(queue, n_arrays, arrays);
    status = pti_queue_take_error(queue);
done:
    return status;
}

/** An array of the queue's own; where kernels run on host memory it has some from the start. */
static polytile_status hold_internal(polytile_queue *queue, polytile_array *array) {
    polytile_status status = POLYTILE_OK;
    array->is_internal = true;
    if (queue->residency == NULL)
        PTI_TRY(pti_queue_spill(queue, array));
    PTI_TRY(hold_all(queue, 1, &array));
done:
    return status;
}

polytile_status polytile_queue_create_array(polytile_queue *queue, const char *name,
                                            polytile_type type, int n_dims, const int64_t *extents,
                                            polytile_array **array) {
    polytile_status status = POLYTILE_OK;
    polytile_array *made = NULL;
    if (array != NULL)
        *array = NULL;
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    polytile_context *ctx = queue->object.context;
    if (extents == NULL || array == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "array %s: %s NULL", name == NULL ? "?" : name,
                        extents == NULL ? "its extents are" : "the place for it is");
    polytile_domain domain = polytile_domain_from_extents(n_dims, extents);
    PTI_TRY(pti_array_create(ctx, name, type, &domain, &made));
    PTI_TRY(hold_internal(queue, made));
    *array = made;
done:
    if (status != POLYTILE_OK)
        polytile_array_destroy(made);
    return status;
}
