#include "support/fake_cuda.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace {

enum Call {
#define CALL(name, parameters) CALL_##name,
    PTI_CUDA_CALLS(CALL)
#undef CALL
        N_CALLS
};

const char *const call_names[] = {
#define NAME(name, parameters) #name,
    PTI_CUDA_CALLS(NAME)
#undef NAME
};

constexpr size_t max_pitch_bytes = std::numeric_limits<int32_t>::max();
constexpr unsigned max_block_threads = 1024;
constexpr uint64_t max_grid_x = std::numeric_limits<int32_t>::max();
constexpr uint64_t max_grid_yz = 65535;
constexpr unsigned max_block_z = 64;
constexpr int threads_per_multiprocessor = 2048;

FakeCuda *current = nullptr;
thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

/** Calls that give something back do so even in a context that has faulted. */
bool gives_back(int call) {
    return call == CALL_cudaFree || call == CALL_cudaHostUnregister ||
           call == CALL_cudaStreamDestroy || call == CALL_cudaEventDestroy;
}

} // namespace

template <auto Method, int number> struct FakeCudaEntry;

template <class... Arguments, cudaError_t (FakeCuda::*Method)(Arguments...), int number>
struct FakeCudaEntry<Method, number> {
    static cudaError_t call(Arguments... arguments) {
        const std::lock_guard<std::mutex> lock(current->mutex_);
        current->n_calls_[number]++;
        cudaError_t error = current->before(number);
        if (error == cudaSuccess || gives_back(number)) {
            const cudaError_t own = (current->*Method)(arguments...);
            error = current->fault_ != cudaSuccess ? current->fault_ : own;
        }
        current->after(number, error);
        return error;
    }
};

static const pti_cuda_api fake_api = {
#define ENTRY(name, parameters) FakeCudaEntry<&FakeCuda::name, CALL_##name>::call,
    PTI_CUDA_CALLS(ENTRY)
#undef ENTRY
};

FakeCuda::FakeCuda(uint64_t seed, const Options &options)
    : options_(options), queues_(seed), memory_(static_cast<size_t>(options.n_devices)),
      n_calls_(N_CALLS) {
    for (FakeDeviceMemory &memory : memory_)
        memory.total_bytes = options.total_bytes;
    current = this;
    current_device = 0;
    last_error = cudaSuccess;
    pti_cuda_current_api = &fake_api;
}

FakeCuda::~FakeCuda() {
    pti_cuda_current_api = &pti_cuda_runtime;
    current = nullptr;
}

void FakeCuda::add_kernel(const void *symbol, const polytile_implementation &implementation) {
    kernels_[symbol] = implementation;
}

int64_t FakeCuda::n_calls(const char *name) const {
    for (int call = 0; call < N_CALLS; call++) {
        if (std::strcmp(call_names[call], name) == 0)
            return n_calls_[static_cast<size_t>(call)];
    }
    return -1;
}

std::string FakeCuda::leaks() const {
    int64_t n_allocations = 0;
    for (const FakeDeviceMemory &memory : memory_)
        n_allocations += memory.n_allocations();
    const struct {
        const char *what;
        int64_t number;
    } rows[] = {
        {"allocations", n_allocations},
        {"streams", static_cast<int64_t>(streams_.size())},
        {"events", static_cast<int64_t>(events_.size())},
        {"registrations", host_.n_registrations()},
    };
    std::string text;
    for (const auto &row : rows) {
        if (row.number > 0)
            text += (text.empty() ? "" : ", ") + std::to_string(row.number) + " " + row.what;
    }
    return text;
}

cudaError_t FakeCuda::before(int call) const {
    if (call == CALL_cudaGetLastError)
        return fault_;
    return options_.n_devices == 0 ? options_.no_gpu_error : fault_;
}

void FakeCuda::after(int call, cudaError_t error) {
    if (error != cudaSuccess && call != CALL_cudaGetLastError)
        last_error = error;
}

/** As a GPU's: the context is gone, with all that is pending. */
void FakeCuda::fault() {
    fault_ = cudaErrorIllegalAddress;
    queues_.drop_all();
}

/* Devices. */

cudaError_t FakeCuda::cudaGetDeviceCount(int *n_devices) {
    *n_devices = options_.n_devices;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaSetDevice(int number) {
    if (number < 0 || number >= options_.n_devices)
        return cudaErrorInvalidDevice;
    current_device = number;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaGetDeviceProperties(struct cudaDeviceProp *properties, int number) {
    if (number < 0 || number >= options_.n_devices)
        return cudaErrorInvalidDevice;
    std::memset(properties, 0, sizeof *properties);
    std::strcpy(properties->name, "Fake GPU");
    std::memset(properties->uuid.bytes, 'A' + number, sizeof properties->uuid.bytes);
    properties->totalGlobalMem = memory(number).total_bytes;
    properties->major = 9;
    properties->multiProcessorCount = 4;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = max_block_threads;
    properties->maxThreadsPerMultiProcessor = threads_per_multiprocessor;
    properties->memPitch = max_pitch_bytes;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaGetLastError() {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

/* Memory. */

cudaError_t FakeCuda::cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = memory(current_device).free_bytes();
    *total_bytes = memory(current_device).total_bytes;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaMalloc(void **allocated, size_t n_bytes) {
    if (n_bytes == 0) {
        *allocated = nullptr;
        return cudaSuccess;
    }
    void *bytes = memory(current_device).allocate(n_bytes);
    if (bytes == nullptr)
        return cudaErrorMemoryAllocation;
    *allocated = bytes;
    return cudaSuccess;
}

/** Waits for the whole GPU, as CUDA does. */
cudaError_t FakeCuda::cudaFree(void *allocated) {
    queues_.finish_all();
    std::string why;
    bool found = allocated == nullptr;
    for (FakeDeviceMemory &memory : memory_)
        found = found || memory.release(allocated, &why);
    if (!why.empty())
        violate("cudaFree: " + why);
    return found ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t FakeCuda::cudaHostRegister(void *range, size_t n_bytes, unsigned flags) {
    (void)flags;
    return host_.add(byte_range(range, n_bytes));
}

cudaError_t FakeCuda::cudaHostUnregister(void *range) {
    return host_.remove(range);
}

cudaError_t FakeCuda::cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                               const void *pointer) {
    std::memset(attributes, 0, sizeof *attributes);
    attributes->type =
        is_on_device(byte_range(pointer, 1)) ? cudaMemoryTypeDevice : host_.type_of(pointer);
    void *const address = const_cast<void *>(pointer);
    attributes->device = attributes->type == cudaMemoryTypeUnregistered ? -2 : 0;
    attributes->hostPointer = attributes->type == cudaMemoryTypeHost ? address : nullptr;
    attributes->devicePointer = attributes->type == cudaMemoryTypeUnregistered ? nullptr : address;
    return cudaSuccess;
}

bool FakeCuda::is_on_device(const ByteRange &range) const {
    for (const FakeDeviceMemory &memory : memory_) {
        if (memory.overlaps(range))
            return true;
    }
    return false;
}

bool FakeCuda::is_allocated(const ByteRange &range) const {
    for (const FakeDeviceMemory &memory : memory_) {
        if (memory.contains(range))
            return true;
    }
    return false;
}

/* Streams and events. */

FakeCuda::Stream *FakeCuda::find(cudaStream_t stream) {
    if (stream == nullptr) {
        Stream &own = default_streams_[current_device];
        if (own.queue == nullptr)
            own = {queues_.create(), current_device};
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
    streams_[*stream] = {queues_.create(), current_device};
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
    if (!is_pageable) {
        queues_.enqueue(own->queue, [this, to, from] { run_copy(to, from, false); });
        return cudaSuccess;
    }
    n_pageable_copies_++;
    queues_.finish(own->queue);
    if (fault_ == cudaSuccess)
        run_copy(to, from, true);
    return cudaSuccess;
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
    for (size_t plane = 0; plane < to.depth; plane++) {
        for (size_t row = 0; row < to.height; row++)
            std::memmove(to.first + plane * to.slice + row * to.pitch,
                         from.first + plane * from.slice + row * from.pitch, to.width);
    }
}

cudaError_t FakeCuda::cudaMemcpyAsync(void *to, const void *from, size_t n_bytes,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    auto line = [n_bytes](const void *first) {
        return Block{static_cast<char *>(const_cast<void *>(first)),
                     std::min(n_bytes, max_pitch_bytes),
                     0,
                     n_bytes,
                     1,
                     1};
    };
    return copy(line(to), line(from), kind, stream);
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
    const cudaExtent &extent = parms->extent;
    auto block = [&extent](const cudaPitchedPtr &memory, const cudaPos &at) {
        const size_t slice = memory.pitch * memory.ysize;
        return Block{static_cast<char *>(memory.ptr) + at.z * slice + at.y * memory.pitch + at.x,
                     memory.pitch,
                     slice,
                     extent.width,
                     extent.height,
                     extent.depth};
    };
    if (parms->srcArray != nullptr || parms->dstArray != nullptr ||
        parms->srcPos.y + extent.height > parms->srcPtr.ysize ||
        parms->dstPos.y + extent.height > parms->dstPtr.ysize)
        return cudaErrorInvalidValue;
    return copy(block(parms->dstPtr, parms->dstPos), block(parms->srcPtr, parms->srcPos),
                parms->kind, stream);
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
    queues_.enqueue(own->queue, [plane, value] {
        for (size_t row = 0; row < plane.height; row++)
            std::memset(plane.first + row * plane.pitch, value, plane.width);
    });
    return cudaSuccess;
}

/* Kernels. */

cudaError_t FakeCuda::cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                            const void *kernel) {
    if (kernels_.count(kernel) == 0)
        return cudaErrorInvalidDeviceFunction;
    std::memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = max_block_threads;
    attributes->numRegs = 32;
    attributes->binaryVersion = 90;
    attributes->ptxVersion = 90;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n_blocks,
                                                                    const void *kernel,
                                                                    int n_threads,
                                                                    size_t shared_bytes) {
    (void)shared_bytes;
    if (kernels_.count(kernel) == 0)
        return cudaErrorInvalidDeviceFunction;
    if (n_threads < 1)
        return cudaErrorInvalidValue;
    *n_blocks = n_threads > static_cast<int>(max_block_threads)
                    ? 0
                    : std::min(32, threads_per_multiprocessor / n_threads);
    return cudaSuccess;
}

/** Every thread of a box has its place: the last index along x, the one before along y, and all
 * others along z. */
cudaError_t FakeCuda::check_grid(const polytile_domain &threads, dim3 grid, dim3 block) {
    if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > max_grid_x || grid.y > max_grid_yz ||
        grid.z > max_grid_yz || block.x < 1 || block.y < 1 || block.z < 1 ||
        block.z > max_block_z || block.x > max_block_threads || block.y > max_block_threads ||
        uint64_t{block.x} * block.y * block.z > max_block_threads)
        return cudaErrorInvalidConfiguration;
    uint64_t wanted[3] = {1, 1, 1};
    for (int d = 0; d < threads.n_dims; d++)
        wanted[std::min(threads.n_dims - 1 - d, 2)] *=
            static_cast<uint64_t>(threads.range[d].hi - threads.range[d].lo + 1);
    const uint64_t given[3] = {uint64_t{grid.x} * block.x, uint64_t{grid.y} * block.y,
                               uint64_t{grid.z} * block.z};
    for (int axis = 0; axis < 3; axis++) {
        if (given[axis] < wanted[axis]) {
            violate("a grid has " + std::to_string(given[axis]) + " threads along " + "xyz"[axis] +
                    ", and the box " + std::to_string(wanted[axis]));
            return cudaErrorInvalidConfiguration;
        }
    }
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                       size_t shared_bytes, cudaStream_t stream) {
    (void)shared_bytes;
    Stream *own = find(stream);
    const auto found = kernels_.find(kernel);
    if (own == nullptr || own->device != current_device)
        return cudaErrorInvalidResourceHandle;
    if (found == kernels_.end())
        return cudaErrorInvalidDeviceFunction;
    Kernel run = {found->second, *static_cast<const polytile_domain *>(arguments[0]), {}};
    for (int k = 0; k < run.implementation.n_views; k++)
        run.views.push_back(*static_cast<const polytile_view *>(arguments[1 + k]));
    const cudaError_t error = check_grid(run.threads, grid, block);
    if (error == cudaSuccess)
        queues_.enqueue(own->queue, [this, run] { run_kernel(run); });
    return error;
}

/** Whether all that a view shows is device memory. */
bool FakeCuda::is_resident(const polytile_view &view, int64_t element_bytes) const {
    const char *first = static_cast<const char *>(view.origin);
    int64_t span_bytes = element_bytes;
    for (int d = 0; d < view.resident.n_dims; d++) {
        const polytile_range &range = view.resident.range[d];
        if (range.hi < range.lo)
            return true;
        first += range.lo * view.stride_bytes[d];
        span_bytes += (range.hi - range.lo) * view.stride_bytes[d];
    }
    return is_allocated(byte_range(first, static_cast<size_t>(span_bytes)));
}

void FakeCuda::run_kernel(const Kernel &kernel) {
    const polytile_implementation &implementation = kernel.implementation;
    for (size_t k = 0; k < kernel.views.size(); k++) {
        if (!is_resident(kernel.views[k], implementation.views[k].element_bytes)) {
            violate("view " + std::to_string(k) + " of a kernel is not in device memory");
            fault();
            return;
        }
    }
    if (n_kernels_to_fault_ > 0 && --n_kernels_to_fault_ == 0)
        fault();
    else
        implementation.host(&kernel.threads, kernel.views.data(), implementation.user);
}
