#include "base/plural.h"
#include "launch/execute/run_check.h"
#include "launch/execute/run_place.h"
#include "queue/calls/calls.h"
#include "queue/detach.h"
#include "queue/member.h"
#include "queue/over_group.h"

static polytile_status check_list(const polytile_queue *queue, const char *action, int n_arrays,
                                  polytile_array *const *arrays) {
    if (n_arrays < 1)
        return PTI_QUEUE_REFUSE(queue,
                                "%d arrays to %s; give at least one, as POLYTILE_ARRAYS(x, y)",
                                n_arrays, action);
    if (arrays == NULL)
        return PTI_QUEUE_REFUSE(queue, "the list of %d %s to %s is NULL", n_arrays,
                                pti_plural(n_arrays, "array", "arrays"), action);
    for (int a = 0; a < n_arrays; a++) {
        if (arrays[a] == NULL)
            return PTI_QUEUE_REFUSE(queue, "array %d of %d to %s is NULL", a, n_arrays, action);
        for (int b = 0; b < a; b++) {
            if (arrays[a] == arrays[b])
                return PTI_QUEUE_REFUSE(
                    queue, "array %s is in the list to %s twice, as number %d and %d; give it once",
                    arrays[a]->name, action, b, a);
        }
    }
    return POLYTILE_OK;
}

static polytile_status refuse_attached(const polytile_queue *queue, const polytile_array *array) {
    const char *name = array->name;
    if (array->is_internal)
        return PTI_QUEUE_REFUSE(queue, "array %s is internal to %s queue and cannot be attached",
                                name, array->queue == queue ? "this" : "another");
    if (array->queue == queue)
        return PTI_QUEUE_REFUSE(queue, "array %s is attached already", name);
    return PTI_QUEUE_REFUSE(queue,
                            "array %s is attached to another queue, on %s; detach it there first",
                            name, pti_queue_text(array->queue));
}

/** Refuse an array that cannot be attached, whatever the others are. */
static polytile_status check_attached_array(const polytile_queue *queue, polytile_array *array) {
    polytile_context *ctx = queue->object.context;
    if (array->object.context != ctx)
        return PTI_QUEUE_REFUSE(queue, "array %s is of another context; create both in one",
                                array->name);
    if (array->queue != NULL)
        return refuse_attached(queue, array);
    if (pti_box_has_gaps(&array->domain))
        return PTI_QUEUE_REFUSE(queue,
                                "array %s is a view with a step above 1, which launches may use "
                                "and a queue cannot hold; attach %s, of which it is a part",
                                array->name, pti_array_planned(array)->name);
    if (pti_arrays_refuse_gpu(1, &array, pti_queue_text(queue)) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (array->data == NULL)
        return PTI_QUEUE_REFUSE(
            queue, "array %s is only described and has no memory; wrap memory to attach it",
            array->name);
    return POLYTILE_OK;
}

static polytile_status check_apart(const polytile_queue *queue, const polytile_array *one,
                                   const polytile_array *other) {
    uint64_t first;
    uint64_t n_bytes = pti_run_shared_bytes(one, other, &first);
    if (n_bytes == 0)
        return POLYTILE_OK;
    return PTI_QUEUE_REFUSE(
        queue,
        "arrays %s and %s overlap in memory (%llu bytes, from byte %llu of %s)%s%s; attach one at "
        "a time",
        one->name, other->name, (unsigned long long)n_bytes, (unsigned long long)first, one->name,
        other->queue == NULL ? "" : ", and the latter is attached to a queue on ",
        other->queue == NULL ? "" : pti_queue_text(other->queue));
}

/** Check one array of a list against those before it and the arrays of all queues of the
 * context. */
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
    if (pti_array_get_state(array) == PTI_ARRAY_HARMED)
        pti_log(array->object.context, PTI_LOG_WARN,
                "array %s: attached although a failed run left it incomplete", array->name);
}

static void let_go_all(polytile_queue *queue, int n_arrays, polytile_array *const *arrays) {
    for (int a = n_arrays - 1; a >= 0; a--)
        pti_queue_let_go(queue, arrays[a]);
}

/** Let the queue hold all of the arrays, or none. */
static polytile_status hold_all(polytile_queue *queue, int n_arrays, polytile_array *const *arrays,
                                bool is_shared) {
    polytile_status status = POLYTILE_OK;
    int n_taken = 0;
    pti_queue_release_ended(queue);
    pti_queue_claim(queue);
    for (; n_taken < n_arrays; n_taken++)
        PTI_TRY(pti_queue_hold(queue, arrays[n_taken], is_shared));
done:
    if (status != POLYTILE_OK)
        let_go_all(queue, n_taken, arrays);
    pti_queue_unclaim(queue);
    return status;
}

/** Members' queues, if there are some, have the memory as well. */
static polytile_status hold_attached(polytile_queue *queue, int n_arrays,
                                     polytile_array *const *arrays) {
    polytile_status status = hold_all(queue, n_arrays, arrays, queue->group_functions != NULL);
    if (status != POLYTILE_OK || queue->group_functions == NULL)
        return status;
    status = queue->group_functions->attach(queue, n_arrays, arrays);
    if (status != POLYTILE_OK)
        let_go_all(queue, n_arrays, arrays);
    return status;
}

polytile_status polytile_queue_attach(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    PTI_TRY(pti_queue_enter(queue));
    PTI_TRY(check_list(queue, "attach", n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++) {
        PTI_TRY(check_attached_array(queue, arrays[a]));
        PTI_TRY(check_overlaps(queue, a, arrays));
    }
    PTI_TRY(hold_attached(queue, n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++)
        warn_incomplete(arrays[a]);
done:
    return status;
}

polytile_status pti_queue_attach_shared(polytile_queue *queue, polytile_array *array) {
    polytile_status status;
    PTI_TRY(pti_queue_enter(queue));
    PTI_TRY(check_attached_array(queue, array));
    PTI_TRY(hold_all(queue, 1, &array, true));
done:
    return status;
}

static polytile_status check_attached(const polytile_queue *queue, const polytile_array *array) {
    if (array->queue != queue)
        return PTI_QUEUE_REFUSE(queue, "array %s is not attached to it; nothing was detached",
                                array->name);
    if (array->is_internal)
        return PTI_QUEUE_REFUSE(
            queue, "array %s is internal and cannot be detached; polytile_array_destroy() ends it",
            array->name);
    return POLYTILE_OK;
}

/** Arrays of the queue's own device. */
static polytile_status detach_arrays(polytile_queue *queue, int n_arrays,
                                     polytile_array *const *arrays) {
    for (int a = 0; a < n_arrays; a++)
        pti_queue_begin_leaving(queue, arrays[a]);
    pti_queue_finish_leaving(queue, n_arrays, arrays);
    return pti_queue_take_error(queue);
}

polytile_status polytile_queue_detach(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    PTI_TRY(pti_queue_enter(queue));
    PTI_TRY(check_list(queue, "detach", n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++)
        PTI_TRY(check_attached(queue, arrays[a]));
    status = queue->group_functions != NULL ? pti_group_queue_detach(queue, n_arrays, arrays)
                                            : detach_arrays(queue, n_arrays, arrays);
done:
    return status;
}

static polytile_status check_discarded(const polytile_queue *queue, const polytile_array *array) {
    if (array->queue != queue)
        return PTI_QUEUE_REFUSE(queue,
                                "array %s, which is to be discarded, is not of this queue; attach "
                                "it, or leave it as it is",
                                array->name);
    if (array->read_only)
        return PTI_QUEUE_REFUSE(queue,
                                "array %s is read-only, so that nothing of it could be written "
                                "again; detach it in place of discarding it",
                                array->name);
    return POLYTILE_OK;
}

static polytile_status discard_arrays(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < n_arrays; a++)
        PTI_TRY(pti_queue_discard(queue, arrays[a]));
done:
    return status;
}

polytile_status polytile_queue_discard(polytile_queue *queue, int n_arrays,
                                       polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    PTI_TRY(pti_queue_enter(queue));
    PTI_TRY(check_list(queue, "discard", n_arrays, arrays));
    for (int a = 0; a < n_arrays; a++)
        PTI_TRY(check_discarded(queue, arrays[a]));
    status = queue->group_functions != NULL
                 ? queue->group_functions->discard(queue, n_arrays, arrays)
                 : discard_arrays(queue, n_arrays, arrays);
done:
    return status;
}

/** Let the queue hold an internal array. Where kernels run on host memory, it gets some at once. */
static polytile_status hold_on_device(polytile_queue *queue, polytile_array *array) {
    polytile_status status = POLYTILE_OK;
    if (queue->residency == NULL)
        PTI_TRY(pti_queue_spill(queue, array));
    PTI_TRY(hold_all(queue, 1, &array, false));
done:
    return status;
}

static polytile_status hold_on_members(polytile_queue *queue, polytile_array *array) {
    polytile_status status;
    PTI_TRY(hold_all(queue, 1, &array, false));
    status = queue->group_functions->create_array(queue, array);
    if (status != POLYTILE_OK)
        pti_queue_let_go(queue, array);
done:
    return status;
}

polytile_status pti_queue_create_array_over(polytile_queue *queue, const char *name,
                                            polytile_type type, const polytile_domain *domain,
                                            polytile_array **array) {
    polytile_status status;
    polytile_array *made = NULL;
    *array = NULL;
    PTI_TRY(pti_queue_enter(queue));
    PTI_TRY(pti_array_create(queue->object.context, name, type, domain, &made));
    made->is_internal = true;
    PTI_TRY(queue->group_functions != NULL ? hold_on_members(queue, made)
                                           : hold_on_device(queue, made));
    *array = made;
done:
    if (status != POLYTILE_OK)
        polytile_array_destroy(made);
    return status;
}

polytile_status polytile_queue_create_array(polytile_queue *queue, const char *name,
                                            polytile_type type, int n_dims, const int64_t *extents,
                                            polytile_array **array) {
    if (array != NULL)
        *array = NULL;
    if (pti_queue_enter(queue) != POLYTILE_OK)
        return POLYTILE_INVALID;
    if (extents == NULL || array == NULL)
        return pti_fail(queue->object.context, POLYTILE_INVALID, "array %s: %s NULL",
                        name == NULL ? "?" : name,
                        extents == NULL ? "its extents are" : "the place for it is");
    polytile_domain domain = polytile_domain_from_extents(n_dims, extents);
    return pti_queue_create_array_over(queue, name, type, &domain, array);
}
