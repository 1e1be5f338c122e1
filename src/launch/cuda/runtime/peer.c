#include "launch/cuda/runtime/copy.h"

#include <stdlib.h>

/* The memory of another GPU, over the link between the two. */

/** Events in use, or in the list of idle ones. */
struct pti_event {
    pti_cuda_device *cuda; /* whose stream it is recorded on */
    cudaEvent_t event;
    pti_event *next;      /* of all of the GPU */
    pti_event *next_idle; /* while nobody has it */
};

/** Return whether access is enabled; CUDA answers otherwise if this or another queue asked
 * before. */
static bool is_enabled(const pti_cuda_device *cuda, cudaError_t error) {
    if (error != cudaSuccess)
        cuda->api->cudaGetLastError();
    return error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
}

static bool reaches_peer(polytile_device *device, polytile_device *other, const char **why_not) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    int can_access = 0, number = pti_cuda_of(other)->number;
    *why_not = "they are one GPU";
    if (number == cuda->number)
        return false;
    *why_not = "CUDA finds no link between them";
    if (!is_enabled(cuda, cuda->api->cudaSetDevice(cuda->number)) ||
        !is_enabled(cuda, cuda->api->cudaDeviceCanAccessPeer(&can_access, cuda->number, number)) ||
        can_access == 0)
        return false;
    *why_not = "CUDA refuses to open the link between them";
    return is_enabled(cuda, cuda->api->cudaDeviceEnablePeerAccess(number, 0));
}

static void drop_event(pti_event *event) {
    if (event == NULL)
        return;
    event->next_idle = event->cuda->idle_events;
    event->cuda->idle_events = event;
}

static polytile_status make_peer_event(pti_cuda_device *cuda) {
    polytile_status status;
    pti_event *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(cuda->device.object.context, "the events between GPUs",
                               sizeof *made);
    made->cuda = cuda;
    PTI_TRY(PTI_CUDA(cuda, cudaEventCreateWithFlags, (&made->event, cudaEventDisableTiming)));
    made->next = cuda->events;
    cuda->events = made;
    drop_event(made);
    return POLYTILE_OK;
done:
    free(made);
    return status;
}

void pti_cuda_events_destroy(pti_cuda_device *cuda) {
    while (cuda->events != NULL) {
        pti_event *event = cuda->events;
        cuda->events = event->next;
        cuda->api->cudaEventDestroy(event->event);
        free(event);
    }
    cuda->idle_events = NULL;
}

static polytile_status record_event(polytile_device *device, pti_stream stream, pti_event **event) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    polytile_status status = POLYTILE_OK;
    *event = NULL;
    if (cuda->idle_events == NULL)
        PTI_TRY(make_peer_event(cuda));
    pti_event *idle = cuda->idle_events;
    PTI_TRY(PTI_CUDA(cuda, cudaEventRecord, (idle->event, pti_cuda_stream(cuda, stream))));
    cuda->idle_events = idle->next_idle;
    *event = idle;
done:
    return status;
}

static polytile_status await_event(polytile_device *device, pti_stream stream,
                                   const pti_event *event) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    return PTI_CUDA(cuda, cudaStreamWaitEvent,
                    (pti_cuda_stream(cuda, stream), event->event, cudaEventWaitDefault));
}

/** Copy from a peer. If no event can be recorded after the copy, nobody could wait for it: this
 * waits then. */
static polytile_status copy_from_peer(polytile_device *device, polytile_device *from,
                                      const pti_move *move, const pti_event *ready,
                                      pti_event **done) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    cudaStream_t stream = cuda->stream[PTI_STREAM_IN];
    polytile_status status;
    *done = NULL;
    PTI_TRY(await_event(device, PTI_STREAM_IN, ready));
    PTI_TRY(pti_cuda_copy_from_peer(cuda, move, pti_cuda_of(from)->number, stream));
    PTI_TRY(record_event(device, PTI_STREAM_IN, done));
    return POLYTILE_OK;
done:
    cuda->api->cudaStreamSynchronize(stream);
    return status;
}

/** Wait for an event; the first call that waits may return what failed before. */
static void wait_for_event(const pti_event *event) {
    const pti_cuda_api *api = event->cuda->api;
    if (api->cudaEventSynchronize(event->event) != cudaSuccess)
        api->cudaEventSynchronize(event->event);
}

const pti_peer_functions pti_cuda_peer_functions = {
    .reaches = reaches_peer,
    .record_event = record_event,
    .await_event = await_event,
    .copy = copy_from_peer,
    .wait_for_event = wait_for_event,
    .drop_event = drop_event,
};
