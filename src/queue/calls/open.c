#include "queue/cache.h"
#include "queue/calls/calls.h"
#include "queue/detach.h"
#include "queue/worker/worker.h"

static void drain_queue(pti_object *object) {
    pti_queue_wait_all((polytile_queue *)object);
}

/** Take over a device that was opened for the queue: nobody else waits for it any more. */
static void take_device(polytile_queue *queue, polytile_device *device) {
    queue->device = device;
    device->queue = queue;
    device->wait = pti_queue_wait_all;
    device->cancel = &queue->cancel;
}

static void close_device(polytile_queue *queue) {
    if (queue->device == NULL)
        return;
    take_device(queue, queue->device);
    pti_object_release(&queue->device->object);
}

static void destroy_queue(pti_object *object) {
    polytile_queue *queue = (polytile_queue *)object;
    pti_queue_end_arrays(queue);
    pti_queue_report_unread(queue);
    if (queue->has_thread)
        pti_worker_stop(queue);
    pti_queue_forget_prepared(queue, -1);
    pti_residency_free(queue->residency);
    close_device(queue);
    pti_queue_free(queue);
}

/** Room for what stays on the device, unless kernels run on the host's memory. */
static polytile_status make_residency(polytile_queue *queue) {
    polytile_device *device = queue->device;
    polytile_status status = POLYTILE_OK;
    if (device->reaches_host)
        return POLYTILE_OK;
    PTI_TRY(device->functions->usable(device, &queue->usable_bytes));
    queue->residency = pti_residency_create(queue->usable_bytes);
    if (queue->residency == NULL)
        PTI_TRY(pti_fail_memory(device->object.context, "queue", sizeof *queue));
done:
    return status;
}

static const pti_queue_ends ends = {
    .destroy = destroy_queue, .drain = drain_queue, .end_array = pti_queue_end_array};

polytile_status pti_queue_open(polytile_context *ctx, const char *device_text,
                               polytile_queue **queue) {
    polytile_status status;
    polytile_device *device = NULL;
    polytile_queue *made = NULL;
    *queue = NULL;
    PTI_TRY(polytile_device_open(ctx, device_text, &device));
    made = pti_queue_allocate(ctx, &ends);
    if (made == NULL)
        PTI_TRY(pti_fail_memory(ctx, "queue", sizeof *made));
    take_device(made, device);
    PTI_TRY(make_residency(made));
    PTI_TRY(pti_worker_start(made));
    *queue = made;
done:
    if (status != POLYTILE_OK && made == NULL)
        polytile_device_close(device);
    if (status != POLYTILE_OK && made != NULL)
        pti_object_release(&made->object);
    return status;
}
