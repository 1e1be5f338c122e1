#include "launch/cuda/team_memory.h"

#include "base/checked.h"
#include "launch/cuda/team.h"
#include "launch/peers/peers.h"

#include <stdlib.h>
#include <string.h>

/* Copies. The thread that launched makes them, one at a time; any may fail, which the server then
 * tells. */

/** A part of a copy, and the buffer that it goes through. */
typedef struct memory_part {
    int64_t offset_bytes, n_bytes;
    int buffer;
} memory_part;

static memory_part part_of_bytes(int64_t n_bytes, int64_t k) {
    const int64_t offset_bytes = k * PTI_TEAM_BUFFER_BYTES;
    return (memory_part){offset_bytes, pti_min(n_bytes - offset_bytes, PTI_TEAM_BUFFER_BYTES),
                         (int)(k % PTI_TEAM_BUFFERS)};
}

static int64_t count_parts(int64_t n_bytes) {
    return pti_ceil_div(n_bytes, PTI_TEAM_BUFFER_BYTES);
}

/** Enqueue a copy by a copy engine, and record that it is done for a buffer. */
static bool enqueue_copy(pti_cuda_team *team, void *to, const void *from, int64_t n_bytes,
                         enum cudaMemcpyKind kind, int buffer) {
    const pti_cuda_api *api = team->cuda->api;
    return api->cudaMemcpyAsync(to, from, (size_t)n_bytes, kind, team->stream) == cudaSuccess &&
           api->cudaEventRecord(team->copied[buffer], team->stream) == cudaSuccess;
}

static bool await_buffer(pti_cuda_team *team, int buffer) {
    return team->cuda->api->cudaEventSynchronize(team->copied[buffer]) == cudaSuccess;
}

static bool is_pinned_at(const pti_cuda_team *team, const void *memory) {
    struct cudaPointerAttributes attributes;
    return team->cuda->api->cudaPointerGetAttributes(&attributes, memory) == cudaSuccess &&
           attributes.type == cudaMemoryTypeHost;
}

/** Return whether memory of the host is pinned at both ends, so that a copy engine reaches it. */
static bool is_pinned(const pti_cuda_team *team, const void *memory, int64_t n_bytes) {
    return is_pinned_at(team, memory) &&
           (n_bytes < 2 || is_pinned_at(team, (const char *)memory + n_bytes - 1));
}

/** Let no part of a copy go on: whose memory it is may free it when the copy has failed. */
static bool end_copy(pti_cuda_team *team, bool works) {
    return team->cuda->api->cudaStreamSynchronize(team->stream) == cudaSuccess && works;
}

/** Copy between the device and pinned memory of the host, in one piece. */
static bool copy_pinned(pti_cuda_team *team, void *to, const void *from, int64_t n_bytes,
                        enum cudaMemcpyKind kind) {
    const bool works = enqueue_copy(team, to, from, n_bytes, kind, 0) && await_buffer(team, 0);
    return works || end_copy(team, false);
}

static bool fetch_part(pti_cuda_team *team, const char *from, memory_part what) {
    return enqueue_copy(team, team->buffer[what.buffer], from + what.offset_bytes, what.n_bytes,
                        cudaMemcpyDeviceToHost, what.buffer);
}

static bool fetch_from_gpu(void *device, void *to_host, const void *from_device, int64_t n_bytes) {
    pti_cuda_team *team = device;
    const int64_t n_parts = count_parts(n_bytes);
    if (is_pinned(team, to_host, n_bytes))
        return copy_pinned(team, to_host, from_device, n_bytes, cudaMemcpyDeviceToHost);
    bool works = n_parts == 0 || fetch_part(team, from_device, part_of_bytes(n_bytes, 0));
    for (int64_t k = 0; works && k < n_parts; k++) {
        const memory_part what = part_of_bytes(n_bytes, k);
        works =
            (k + 1 == n_parts || fetch_part(team, from_device, part_of_bytes(n_bytes, k + 1))) &&
            await_buffer(team, what.buffer);
        if (works)
            memcpy((char *)to_host + what.offset_bytes, team->buffer[what.buffer],
                   (size_t)what.n_bytes);
    }
    return works || end_copy(team, false);
}

static bool store_on_gpu(void *device, void *to_device, const void *from_host, int64_t n_bytes) {
    pti_cuda_team *team = device;
    const int64_t n_parts = count_parts(n_bytes);
    bool works = true;
    if (is_pinned(team, from_host, n_bytes))
        return copy_pinned(team, to_device, from_host, n_bytes, cudaMemcpyHostToDevice);
    for (int64_t k = 0; works && k < n_parts; k++) {
        const memory_part what = part_of_bytes(n_bytes, k);
        works = k < PTI_TEAM_BUFFERS || await_buffer(team, what.buffer);
        if (!works)
            break;
        memcpy(team->buffer[what.buffer], (const char *)from_host + what.offset_bytes,
               (size_t)what.n_bytes);
        works = enqueue_copy(team, (char *)to_device + what.offset_bytes, team->buffer[what.buffer],
                             what.n_bytes, cudaMemcpyHostToDevice, what.buffer);
    }
    return end_copy(team, works);
}

/** Parts of a copy from GPU to GPU: some, so that both halves of the way are busy. */
static int64_t size_parts(int64_t n_bytes) {
    enum { N_PARTS = 4, LEAST_BYTES = 128 << 10 };
    const int64_t n_a_part = pti_ceil_div(n_bytes, N_PARTS);
    return pti_min(n_a_part < LEAST_BYTES ? LEAST_BYTES : n_a_part, PTI_TEAM_BUFFER_BYTES);
}

/** Enqueue that another GPU's stream brings what is in a buffer, once it is there. */
static bool enqueue_bringing(pti_cuda_team *team, pti_cuda_team *other, void *to,
                             memory_part what) {
    const pti_cuda_api *api = team->cuda->api;
    const int b = what.buffer;
    return api->cudaStreamWaitEvent(other->way_in, team->copied[b], cudaEventWaitDefault) ==
               cudaSuccess &&
           api->cudaMemcpyAsync(to, team->buffer[b], (size_t)what.n_bytes, cudaMemcpyHostToDevice,
                                other->way_in) == cudaSuccess &&
           api->cudaEventRecord(other->brought[b], other->way_in) == cudaSuccess;
}

/** Let a buffer be filled again only when what was in it has been brought. */
static bool await_bringing(pti_cuda_team *team, const pti_cuda_team *other, int buffer) {
    return team->cuda->api->cudaStreamWaitEvent(team->stream, other->brought[buffer],
                                                cudaEventWaitDefault) == cudaSuccess;
}

/** Copy by the host's memory: while a part is brought the next one is fetched. */
static bool pass_by_host(pti_cuda_team *team, pti_cuda_team *other, char *to, const char *from,
                         int64_t n_bytes) {
    const int64_t part_bytes = size_parts(n_bytes);
    bool works = true;
    pthread_mutex_lock(&other->way);
    for (int64_t at = 0, k = 0; works && at < n_bytes; at += part_bytes, k++) {
        const memory_part what = {at, pti_min(part_bytes, n_bytes - at),
                                  (int)(k % PTI_TEAM_BUFFERS)};
        works = (k < PTI_TEAM_BUFFERS || await_bringing(team, other, what.buffer)) &&
                fetch_part(team, from, what) && enqueue_bringing(team, other, to + at, what);
    }
    works = end_copy(team, works);
    works = team->cuda->api->cudaStreamSynchronize(other->way_in) == cudaSuccess && works;
    pthread_mutex_unlock(&other->way);
    return works;
}

/** Return whether copy engines copy from one GPU to another over a link. */
static bool are_linked(const pti_cuda_team *team, const pti_cuda_team *other) {
    const polytile_device *one = &team->cuda->device, *another = &other->cuda->device;
    return team != other && one->peer != NULL && another->peer != NULL &&
           pti_peers_of(one) == pti_peers_of(another);
}

/** Copy over the link, to where it belongs. */
static bool pass_by_link(pti_cuda_team *team, const pti_cuda_team *other, void *to,
                         const void *from, int64_t n_bytes) {
    const pti_cuda_api *api = team->cuda->api;
    const bool works = api->cudaMemcpyPeerAsync(to, other->cuda->number, from, team->cuda->number,
                                                (size_t)n_bytes, team->stream) == cudaSuccess &&
                       api->cudaEventRecord(team->copied[0], team->stream) == cudaSuccess &&
                       await_buffer(team, 0);
    return works || end_copy(team, false);
}

/** CUDA may copy within a GPU by a kernel, which would wait for the one that runs: so all goes
 * through the host's memory there, as where there is no link. */
static bool pass_to_gpu(void *device, void *other, void *to_other, const void *from_device,
                        int64_t n_bytes) {
    return are_linked(device, other) ? pass_by_link(device, other, to_other, from_device, n_bytes)
                                     : pass_by_host(device, other, to_other, from_device, n_bytes);
}

/** Over some links GPUs load and store, and do not add. */
static bool reaches_gpu(void *device, void *other) {
    const pti_cuda_team *team = device, *another = other;
    const pti_cuda_api *api = team->cuda->api;
    int is_atomic = 0;
    if (!are_linked(team, another))
        return false;
    if (api->cudaDeviceGetP2PAttribute(&is_atomic, cudaDevP2PAttrNativeAtomicSupported,
                                       team->cuda->number, another->cuda->number) == cudaSuccess)
        return is_atomic != 0;
    api->cudaGetLastError();
    return false;
}

static pti_slots_state get_state(void *device) {
    pti_cuda_team *team = device;
    team->why_ended = team->cuda->api->cudaEventQuery(team->ended);
    return team->why_ended == cudaErrorNotReady ? PTI_SLOTS_RUN
           : team->why_ended == cudaSuccess     ? PTI_SLOTS_ENDED
                                                : PTI_SLOTS_FAILED;
}

/* Memory. */

void pti_cuda_team_destroy(pti_cuda_team *team) {
    if (team == NULL)
        return;
    const pti_cuda_api *api = team->cuda->api;
    for (int k = 0; k < PTI_TEAM_BUFFERS; k++) {
        if (team->copied[k] != NULL)
            api->cudaEventDestroy(team->copied[k]);
        if (team->brought[k] != NULL)
            api->cudaEventDestroy(team->brought[k]);
        if (team->buffer[k] != NULL)
            api->cudaFreeHost(team->buffer[k]);
    }
    if (team->ended != NULL)
        api->cudaEventDestroy(team->ended);
    if (team->stream != NULL)
        api->cudaStreamDestroy(team->stream);
    if (team->way_in != NULL)
        api->cudaStreamDestroy(team->way_in);
    pthread_mutex_destroy(&team->way);
    if (team->slots.shared != NULL)
        api->cudaFreeHost(team->slots.shared);
    if (team->slots.slots != NULL)
        api->cudaFree(team->slots.slots);
    free(team);
}

/** Allocate pinned memory, which the GPU reads and writes under the same addresses. */
static polytile_status allocate_shared(pti_cuda_device *cuda, int64_t n_bytes, void **memory) {
    return PTI_CUDA(cuda, cudaHostAlloc,
                    (memory, (size_t)n_bytes, cudaHostAllocMapped | cudaHostAllocPortable));
}

static polytile_status create_slot_memory(pti_cuda_device *cuda, pti_cuda_team *team) {
    polytile_status status = POLYTILE_OK;
    team->cuda = cuda;
    pthread_mutex_init(&team->way, NULL);
    team->slots = (pti_slot_device){.device = team,
                                    .fetch = fetch_from_gpu,
                                    .store = store_on_gpu,
                                    .pass = pass_to_gpu,
                                    .reaches = reaches_gpu,
                                    .get_state = get_state};
    PTI_TRY(PTI_CUDA(cuda, cudaStreamCreateWithFlags, (&team->stream, cudaStreamNonBlocking)));
    PTI_TRY(PTI_CUDA(cuda, cudaStreamCreateWithFlags, (&team->way_in, cudaStreamNonBlocking)));
    PTI_TRY(PTI_CUDA(cuda, cudaEventCreateWithFlags, (&team->ended, cudaEventDisableTiming)));
    for (int k = 0; k < PTI_TEAM_BUFFERS; k++) {
        PTI_TRY(
            PTI_CUDA(cuda, cudaEventCreateWithFlags, (&team->copied[k], cudaEventDisableTiming)));
        PTI_TRY(
            PTI_CUDA(cuda, cudaEventCreateWithFlags, (&team->brought[k], cudaEventDisableTiming)));
        PTI_TRY(allocate_shared(cuda, PTI_TEAM_BUFFER_BYTES, &team->buffer[k]));
    }
done:
    return status;
}

/** Let memory be at least as large; what was there is lost. */
static polytile_status grow_memory(pti_cuda_team *team, pti_server_bytes bytes) {
    pti_cuda_device *cuda = team->cuda;
    polytile_status status = POLYTILE_OK;
    void *old;
    if (team->shared_bytes < bytes.shared_bytes) {
        old = team->slots.shared;
        team->slots.shared = NULL;
        team->shared_bytes = 0;
        if (old != NULL)
            PTI_TRY(PTI_CUDA(cuda, cudaFreeHost, (old)));
        PTI_TRY(allocate_shared(cuda, bytes.shared_bytes, &team->slots.shared));
        team->shared_bytes = bytes.shared_bytes;
    }
    if (team->slots_bytes < bytes.slots_bytes) {
        old = team->slots.slots;
        team->slots.slots = NULL;
        team->slots_bytes = 0;
        if (old != NULL)
            PTI_TRY(PTI_CUDA(cuda, cudaFree, (old)));
        PTI_TRY(PTI_CUDA(cuda, cudaMalloc, (&team->slots.slots, (size_t)bytes.slots_bytes)));
        team->slots_bytes = bytes.slots_bytes;
    }
done:
    return status;
}

/** Copy both ways once, so that no copy meanwhile needs anything of CUDA's for the first time. */
static polytile_status warm_up(pti_cuda_team *team, const char *kernel_name) {
    if (!team->is_warm)
        team->is_warm =
            pass_by_host(team, team, team->slots.slots, team->slots.slots, sizeof(uint64_t));
    return team->is_warm ? POLYTILE_OK
                         : pti_fail(team->cuda->device.object.context, POLYTILE_DEVICE,
                                    "%s: the device cannot copy what slots will send", kernel_name);
}

polytile_status pti_cuda_team_reserve(pti_cuda_device *cuda, const char *kernel_name,
                                      pti_server_bytes bytes, pti_cuda_team **team) {
    polytile_status status = POLYTILE_OK;
    *team = cuda->team;
    if (*team == NULL) {
        *team = calloc(1, sizeof **team);
        if (*team == NULL)
            return pti_fail_memory(cuda->device.object.context, kernel_name, sizeof **team);
        status = create_slot_memory(cuda, *team);
        if (status != POLYTILE_OK) {
            pti_cuda_team_destroy(*team);
            return status;
        }
        cuda->team = *team;
    }
    PTI_TRY(grow_memory(*team, bytes));
    status = warm_up(*team, kernel_name);
done:
    return status;
}
