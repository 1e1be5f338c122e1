#include "support/fake_cuda.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

/* Copies. */

/** Whether memory is where a kind of copy expects it, and for host memory, whether it is pinned. */
cudaError_t FakeCuda::check_side(const ByteRange &range, bool on_device, bool *is_pageable) const {
    if (on_device)
        return is_allocated(range) ? cudaSuccess : cudaErrorInvalidValue;
    bool is_pinned = false;
    const cudaError_t error = is_on_device(range) ? cudaErrorInvalidMemcpyDirection
                                                  : host_.find_pinned(range, &is_pinned);
    *is_pageable = *is_pageable || !is_pinned;
    return error;
}

/** Let what is enqueued next be late, while other streams go on. */
void FakeCuda::delay(FakeQueues::Queue *queue, int late_us) {
    using Clock = std::chrono::steady_clock;
    const auto end = std::make_shared<Clock::time_point>();
    const auto begin = [end, late_us] { *end = Clock::now() + std::chrono::microseconds(late_us); };
    if (late_us > 0)
        queues_.enqueue_running(queue, begin, [end] { return Clock::now() >= *end; });
}

cudaError_t FakeCuda::copy(const Block &to, const Block &from, cudaMemcpyKind kind,
                           cudaStream_t stream) {
    Stream *own = find(stream);
    if (own == nullptr)
        return cudaErrorInvalidResourceHandle;
    if (to.width == 0 || to.height == 0 || to.depth == 0)
        return cudaSuccess;
    for (const Block *block : {&to, &from}) {
        if (block->pitch < block->width || block->pitch > max_pitch_bytes)
            return cudaErrorInvalidPitchValue;
    }
    const bool any = kind == cudaMemcpyDefault;
    const bool to_device = any ? is_on_device(to.range())
                               : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device =
        any ? is_on_device(from.range())
            : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool is_pageable = false;
    cudaError_t error = check_side(to.range(), to_device, &is_pageable);
    if (error == cudaSuccess)
        error = check_side(from.range(), from_device, &is_pageable);
    if (error != cudaSuccess)
        return error;
    link_bytes_[{device_of(from.range()), device_of(to.range())}] +=
        static_cast<int64_t>(to.n_bytes());
    if (!is_pageable) {
        if (to_device && !from_device)
            delay(own->queue, options_.upload_us * device_of(to.range()));
        submit(own, [this, to, from] { run_copy(to, from, false); });
        return cudaSuccess;
    }
    if (own->captured_by != nullptr)
        return cudaErrorStreamCaptureUnsupported;
    n_pageable_copies_++;
    queues_.finish(own->queue);
    if (fault_ == cudaSuccess)
        run_copy(to, from, true);
    return cudaSuccess;
}

/** Copy as a GPU does while a kernel writes the same memory: words are whole. */
static void copy_words(char *to, const char *from, size_t n_bytes) {
    const auto *source = reinterpret_cast<const uint64_t *>(from);
    auto *target = reinterpret_cast<uint64_t *>(to);
    for (size_t k = 0; k < n_bytes / sizeof *source; k++)
        target[k] = __atomic_load_n(&source[k], __ATOMIC_RELAXED);
}

static bool are_words(const char *to, const char *from, size_t n_bytes) {
    return (reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | n_bytes) %
               sizeof(uint64_t) ==
           0;
}

/** Between its call and now the memory of a copy must have stayed what it was. */
void FakeCuda::run_copy(const Block &to, const Block &from, bool is_pageable) {
    for (const Block *block : {&to, &from}) {
        bool is_pinned = is_pageable || is_allocated(block->range());
        if (!is_pinned)
            host_.find_pinned(block->range(), &is_pinned);
        if (!is_pinned) {
            violate("the memory of a pending copy was freed or unregistered");
            return;
        }
    }
    if (to.height == 1 && to.depth == 1 && to.range().overlaps(from.range()))
        violate("a copy onto itself");
    if (to.height == 1 && to.depth == 1 && are_words(to.first, from.first, to.width)) {
        copy_words(to.first, from.first, to.width);
        return;
    }
    for (size_t plane = 0; plane < to.depth; plane++) {
        for (size_t row = 0; row < to.height; row++)
            std::memmove(to.first + plane * to.slice + row * to.pitch,
                         from.first + plane * from.slice + row * from.pitch, to.width);
    }
}

FakeCuda::Block FakeCuda::line_of(const void *first, size_t n_bytes) {
    return {static_cast<char *>(const_cast<void *>(first)),
            std::min(n_bytes, max_pitch_bytes),
            0,
            n_bytes,
            1,
            1};
}

FakeCuda::Block FakeCuda::block_of(const cudaPitchedPtr &memory, const cudaPos &at,
                                   const cudaExtent &extent) {
    const size_t slice = memory.pitch * memory.ysize;
    return {static_cast<char *>(memory.ptr) + at.z * slice + at.y * memory.pitch + at.x,
            memory.pitch,
            slice,
            extent.width,
            extent.height,
            extent.depth};
}

/** Both sides of a copy of a box, of whatever kind; false if it is none within its memory. */
template <class Parms> bool FakeCuda::find_blocks(const Parms &parms, Block *to, Block *from) {
    const cudaExtent &extent = parms.extent;
    *to = block_of(parms.dstPtr, parms.dstPos, extent);
    *from = block_of(parms.srcPtr, parms.srcPos, extent);
    return parms.srcArray == nullptr && parms.dstArray == nullptr &&
           parms.srcPos.y + extent.height <= parms.srcPtr.ysize &&
           parms.dstPos.y + extent.height <= parms.dstPtr.ysize;
}

cudaError_t FakeCuda::cudaMemcpyAsync(void *to, const void *from, size_t n_bytes,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copy(line_of(to, n_bytes), line_of(from, n_bytes), kind, stream);
}

cudaError_t FakeCuda::cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                                        size_t from_pitch, size_t width, size_t height,
                                        enum cudaMemcpyKind kind, cudaStream_t stream) {
    auto plane = [width, height](const void *first, size_t pitch) {
        return Block{static_cast<char *>(const_cast<void *>(first)), pitch, 0, width, height, 1};
    };
    return copy(plane(to, to_pitch), plane(from, from_pitch), kind, stream);
}

cudaError_t FakeCuda::cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *parms,
                                        cudaStream_t stream) {
    Block to, from;
    if (!find_blocks(*parms, &to, &from))
        return cudaErrorInvalidValue;
    return copy(to, from, parms->kind, stream);
}

/** Both sides are checked as CUDA does; that the link is open, which CUDA does not need but is slow
 * without, is for this runtime to find. */
cudaError_t FakeCuda::copy_peer(const Block &to, int to_device, const Block &from, int from_device,
                                cudaStream_t stream) {
    if (find(stream) == nullptr)
        return cudaErrorInvalidResourceHandle;
    if (to.n_bytes() == 0)
        return cudaSuccess;
    if (device_of(to.range()) != to_device || device_of(from.range()) != from_device)
        return cudaErrorInvalidValue;
    if (find(stream)->device != to_device && find(stream)->device != from_device)
        violate("a copy between two GPUs in a stream of a third");
    if (open_links_.count({find(stream)->device,
                           find(stream)->device == to_device ? from_device : to_device}) == 0)
        violate("a copy between GPUs whose link is not open");
    return copy(to, from, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t FakeCuda::cudaMemcpyPeerAsync(void *to, int to_number, const void *from,
                                          int from_number, size_t n_bytes, cudaStream_t stream) {
    return copy_peer(line_of(to, n_bytes), to_number, line_of(from, n_bytes), from_number, stream);
}

cudaError_t FakeCuda::cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *parms,
                                            cudaStream_t stream) {
    Block to, from;
    if (!find_blocks(*parms, &to, &from))
        return cudaErrorInvalidValue;
    return copy_peer(to, parms->dstDevice, from, parms->srcDevice, stream);
}

cudaError_t FakeCuda::cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                        size_t height, cudaStream_t stream) {
    Stream *own = find(stream);
    if (own == nullptr)
        return cudaErrorInvalidResourceHandle;
    if (width == 0 || height == 0)
        return cudaSuccess;
    const Block plane = {static_cast<char *>(to), pitch, 0, width, height, 1};
    if (!is_allocated(plane.range()) || (height > 1 && pitch < width))
        return cudaErrorInvalidValue;
    if (pitch > max_pitch_bytes)
        return cudaErrorInvalidPitchValue;
    submit(own, [plane, value] {
        for (size_t row = 0; row < plane.height; row++)
            std::memset(plane.first + row * plane.pitch, value, plane.width);
    });
    return cudaSuccess;
}
