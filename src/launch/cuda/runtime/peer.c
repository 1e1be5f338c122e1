#include "launch/cuda/runtime/copy.h"

#include <stdlib.h>

/* The memory of another GPU, over the link between the two. */

/** Events that go to and fro between those who have them and the list of idle ones. */
struct pti_mark {
    pti_cuda_device *cuda; /* whose stream it is recorded on */
    cudaEvent_t event;
    pti_mark *next;      /* of all of the GPU */
    pti_mark *next_idle; /* while nobody has it */
};

/** What a GPU answers when it was asked before, by this or another queue. */
static bool is_enabled(const pti_cuda_device *cuda, cudaError_t error) {
    if (error != cudaSuccess)
        cuda->api->cudaGetLastError();
    return error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
}

static bool reaches(polytile_device *device, polytile_device *other, const char **why_not) {
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

static void drop(pti_mark *mark) {
    if (mark == NULL)
        return;
    mark->next_idle = mark->cuda->idle_marks;
    mark->cuda->idle_marks = mark;
}

static polytile_status make(pti_cuda_device *cuda) {
    polytile_status status;
    pti_mark *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(cuda->device.object.context, "the events between GPUs",
                               sizeof *made);
    made->cuda = cuda;
    PTI_TRY(PTI_CUDA(cuda, cudaEventCreateWithFlags, (&made->event, cudaEventDisableTiming)));
    made->next = cuda->marks;
    cuda->marks = made;
    drop(made);
    return POLYTILE_OK;
done:
    free(made);
    return status;
}

void pti_cuda_marks_destroy(pti_cuda_device *cuda) {
    while (cuda->marks != NULL) {
        pti_mark *mark = cuda->marks;
        cuda->marks = mark->next;
        cuda->api->cudaEventDestroy(mark->event);
        free(mark);
    }
    cuda->idle_marks = NULL;
}

static polytile_status mark(polytile_device *device, pti_stream stream, pti_mark **made) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    polytile_status status = POLYTILE_OK;
    *made = NULL;
    if (cuda->idle_marks == NULL)
        PTI_TRY(make(cuda));
    pti_mark *taken = cuda->idle_marks;
    PTI_TRY(PTI_CUDA(cuda, cudaEventRecord, (taken->event, cuda->stream[stream])));
    cuda->idle_marks = taken->next_idle;
    *made = taken;
done:
    return status;
}

static polytile_status await(polytile_device *device, pti_stream stream, const pti_mark *of) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    return PTI_CUDA(cuda, cudaStreamWaitEvent,
                    (cuda->stream[stream], of->event, cudaEventWaitDefault));
}

/** Without its end being marked nobody could wait for it: then it is waited for here. */
static polytile_status copy_from_peer(polytile_device *device, polytile_device *from,
                                      const pti_move *move, const pti_mark *ready,
                                      pti_mark **done) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    cudaStream_t stream = cuda->stream[PTI_STREAM_IN];
    polytile_status status;
    *done = NULL;
    PTI_TRY(await(device, PTI_STREAM_IN, ready));
    PTI_TRY(pti_cuda_copy_from_peer(cuda, move, pti_cuda_of(from)->number, stream));
    PTI_TRY(mark(device, PTI_STREAM_IN, done));
    return POLYTILE_OK;
done:
    cuda->api->cudaStreamSynchronize(stream);
    return status;
}

/** What failed before may be told by the first call that waits. */
static void wait_for_event(const pti_mark *of) {
    const pti_cuda_api *api = of->cuda->api;
    if (api->cudaEventSynchronize(of->event) != cudaSuccess)
        api->cudaEventSynchronize(of->event);
}

const pti_peer_functions pti_cuda_peer_functions = {
    .reaches = reaches,
    .mark = mark,
    .await = await,
    .copy = copy_from_peer,
    .settle = wait_for_event,
    .drop = drop,
};
