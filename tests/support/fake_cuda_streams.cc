#include "support/fake_cuda.h"

#include <algorithm>

/* Streams and events. */

FakeCuda::Stream *FakeCuda::find(cudaStream_t stream) {
    if (stream == nullptr) {
        Stream &own = default_streams_[current_device];
        if (own.queue == nullptr)
            own = {queues_.create(), current_device, nullptr, false};
        return &own;
    }
    const auto found = streams_.find(stream);
    return found == streams_.end() ? nullptr : &found->second;
}

FakeCuda::Event *FakeCuda::find(cudaEvent_t event) {
    const auto found = events_.find(event);
    return found == events_.end() ? nullptr : &found->second;
}

bool FakeCuda::has_streams(int device) const {
    return std::any_of(streams_.begin(), streams_.end(),
                       [&](const auto &entry) { return entry.second.device == device; });
}

cudaError_t FakeCuda::cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    if (flags != cudaStreamNonBlocking)
        violate("cudaStreamCreateWithFlags: a stream that waits for the default one");
    if (!has_streams(current_device))
        memory(current_device).take(options_.streams_bytes);
    *stream = reinterpret_cast<cudaStream_t>(++last_handle_ << 8);
    streams_[*stream] = {queues_.create(), current_device, nullptr, false};
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaStreamDestroy(cudaStream_t stream) {
    Stream *own = stream == nullptr ? nullptr : find(stream);
    if (own == nullptr)
        return cudaErrorInvalidResourceHandle;
    const int device = own->device;
    queues_.destroy(own->queue);
    streams_.erase(stream);
    if (!has_streams(device))
        memory(device).give_back(options_.streams_bytes);
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaStreamSynchronize(cudaStream_t stream) {
    Stream *own = find(stream);
    if (own == nullptr)
        return cudaErrorInvalidResourceHandle;
    queues_.finish(own->queue);
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)flags;
    Stream *own = find(stream);
    Event *awaited = find(event);
    if (own == nullptr || awaited == nullptr)
        return cudaErrorInvalidResourceHandle;
    queues_.enqueue_wait(own->queue, awaited->latest);
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    *event = reinterpret_cast<cudaEvent_t>(++last_handle_ << 8);
    events_[*event] = {(flags & cudaEventDisableTiming) == 0, current_device, nullptr};
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaEventDestroy(cudaEvent_t event) {
    return events_.erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t FakeCuda::cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    Stream *own = find(stream);
    Event *recorded = find(event);
    if (own == nullptr || recorded == nullptr || own->device != recorded->device)
        return cudaErrorInvalidResourceHandle;
    recorded->latest = queues_.enqueue_mark(own->queue);
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaEventQuery(cudaEvent_t event) {
    Event *own = find(event);
    if (own == nullptr)
        return cudaErrorInvalidResourceHandle;
    queues_.make_progress();
    return own->latest == nullptr || own->latest->is_reached ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t FakeCuda::cudaEventSynchronize(cudaEvent_t event) {
    Event *own = find(event);
    if (own == nullptr)
        return cudaErrorInvalidResourceHandle;
    if (own->latest != nullptr)
        queues_.reach(*own->latest);
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    Event *first = find(from), *last = find(to);
    if (first == nullptr || last == nullptr || !first->has_time || !last->has_time ||
        first->latest == nullptr || last->latest == nullptr)
        return cudaErrorInvalidResourceHandle;
    if (!first->latest->is_reached || !last->latest->is_reached)
        return cudaErrorNotReady;
    *milliseconds = static_cast<float>(1e3 * (last->latest->reached_s - first->latest->reached_s));
    return cudaSuccess;
}
