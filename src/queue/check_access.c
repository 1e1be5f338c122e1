#include "queue/check_access.h"

#include "access/footprint/footprint.h"
#include "launch/access_check/access_check.h"
#include "launch/access_check/rehearsal.h"
#include "launch/device/view.h"
#include "partition/cost/demand.h"
#include "queue/member.h"
#include "queue/queue.h"

#include <string.h>

/** Queue that what the launch reads of an operand comes to the host. */
static polytile_status fetch_operand(polytile_queue *queue, const pti_instance *instance,
                                     int operand, polytile_array *array) {
    polytile_status status = POLYTILE_OK;
    pti_boxes boxes = {0};
    polytile_domain hull = pti_footprint_hull(instance, operand, PTI_READS, &instance->threads);
    if (!pti_box_is_empty(&hull))
        pti_boxes_append(&boxes, &hull);
    if (boxes.failed)
        status = pti_fail_memory(queue->object.context, array->name, sizeof hull);
    else
        status = pti_queue_fetch(queue, array, &boxes);
    pti_boxes_free(&boxes);
    return status;
}

/** Bring all that is read to the host's memory, also of internal arrays. */
static polytile_status fetch_read(polytile_queue *queue, const pti_instance *instance,
                                  polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; queue->residency != NULL && o < instance->n_operands; o++)
        PTI_TRY(fetch_operand(queue, instance, o, arrays[o]));
    pti_queue_wait_all(queue);
    for (int o = 0; o < instance->n_operands; o++)
        if (arrays[o]->is_internal && !instance->operand[o].is_scratch &&
            pti_queue_get_spill(queue, arrays[o]) == NULL)
            return pti_fail_memory(queue->object.context, arrays[o]->name,
                                   (double)arrays[o]->n_bytes);
done:
    return status;
}

/** Open the queue's device once more, without its options: of a GPU it takes what the check
 * needs. */
static polytile_status open_device(const polytile_queue *queue, polytile_device **device) {
    char text[64];
    size_t length = strcspn(queue->device->text, "(");
    if (length >= sizeof text)
        length = sizeof text - 1;
    memcpy(text, queue->device->text, length);
    text[length] = '\0';
    return polytile_device_open(queue->object.context, text, device);
}

static polytile_status open_guards(polytile_queue *queue, int n_arrays,
                                   polytile_array *const *arrays) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < n_arrays; o++)
        PTI_TRY(pti_guard_open(queue->object.context, &queue->array[arrays[o]->position].guard));
done:
    return status;
}

/** Let an array be a view of a queue's array, or of a member's, which has all that the launch
 * touches: as many of the view's elements as that takes. */
static void view_array(const pti_instance *instance, int operand, const polytile_array *held,
                       polytile_array *view) {
    const pti_instance *given = instance->given->instance;
    polytile_view all = pti_view_of(held->data, &held->layout, &held->domain);
    polytile_domain hull = pti_footprint_hull(given, operand, PTI_TOUCHES, &given->threads);
    polytile_view seen =
        pti_view_through(&all, &instance->given->map[operand], &given->operand[operand].domain);
    *view = *held;
    view->base = NULL;
    view->domain = seen.resident = view->layout.hull = pti_box_without_steps(&hull);
    memcpy(view->layout.stride_bytes, seen.stride_bytes, sizeof view->layout.stride_bytes);
    view->data = pti_view_first(&seen);
    view->n_bytes = pti_box_count(&hull) * view->element_bytes;
}

/** Return whether a body knows an operand's array by other indices. */
static bool is_view(const pti_instance *instance, int operand) {
    if (instance->given == NULL)
        return false;
    const pti_index_map *map = &instance->given->map[operand];
    const pti_index_map same = pti_index_map_identity(map->n_to);
    return !pti_index_map_equals(map, &same) ||
           !pti_box_equals(&instance->given->instance->operand[operand].domain,
                           &instance->operand[operand].domain);
}

/** Check copies of arrays as the body knows them. */
static polytile_status check_seen(polytile_queue *queue, polytile_device *device,
                                  const pti_request *request, const pti_instance *instance,
                                  polytile_array *const *held, const pti_launch_config *config) {
    polytile_array view[PTI_MAX_OPERANDS], *arrays[PTI_MAX_OPERANDS];
    polytile_status status;
    for (int o = 0; o < instance->n_operands; o++) {
        arrays[o] = is_view(instance, o) ? &view[o] : held[o];
        if (is_view(instance, o))
            view_array(instance, o, held[o], &view[o]);
    }
    PTI_TRY(pti_access_check_asked(device, request->kernel, instance, arrays, config));
    PTI_TRY(
        pti_rehearsal_run(device, request->kernel, instance, arrays, config, &queue->rehearsal));
done:
    return status;
}

static polytile_status check_copies(polytile_queue *queue, const pti_request *request,
                                    const pti_prepared *prepared, polytile_array *const *arrays) {
    int n_arrays = prepared->instance->n_operands;
    polytile_device *device = NULL;
    pti_launch_config config = prepared->config;
    polytile_status status;
    config.values = request->values;
    pti_queue_claim(queue);
    PTI_TRY(open_guards(queue, n_arrays, arrays));
    PTI_TRY(open_device(queue, &device));
    PTI_TRY(check_seen(queue, device, request, prepared->instance, arrays, &config));
done:
    polytile_device_close(device);
    for (int o = 0; o < n_arrays; o++)
        pti_close_guard(queue, arrays[o]->position);
    pti_queue_unclaim(queue);
    return status;
}

polytile_status pti_queue_check_access(polytile_queue *queue, const pti_request *request,
                                       const pti_prepared *prepared) {
    const pti_settings *settings = pti_get_settings(queue->object.context);
    polytile_array *arrays[PTI_MAX_OPERANDS];
    polytile_status status = POLYTILE_OK;
    if (request->kernel->is_own || request->kernel->implementation.team != NULL ||
        (!settings->check_access && !settings->check_wide))
        return POLYTILE_OK;
    if (!pti_queue_has_failed(queue))
        PTI_TRY(pti_queue_repeat_newest(queue));
    for (int o = 0; o < prepared->n_arrays; o++)
        arrays[o] = queue->array[prepared->position[o]].array;
    PTI_TRY(fetch_read(queue, prepared->instance, arrays));
    if (!pti_queue_has_failed(queue))
        PTI_TRY(check_copies(queue, request, prepared, arrays));
done:
    return status;
}
