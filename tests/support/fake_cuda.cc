#include "support/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "launch/cuda/runtime/fault.h"
}

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

FakeCuda *current = nullptr;
thread_local cudaError_t last_error = cudaSuccess;

/** Calls that give something back do so even in a context that has faulted. */
bool gives_back(int call) {
    return call == CALL_cudaFree || call == CALL_cudaFreeHost || call == CALL_cudaHostUnregister ||
           call == CALL_cudaStreamDestroy || call == CALL_cudaEventDestroy ||
           std::strcmp(call_names[call], "cudaGraphDestroy") == 0 ||
           std::strcmp(call_names[call], "cudaGraphExecDestroy") == 0 ||
           std::strcmp(call_names[call], "cudaLibraryUnload") == 0 ||
           std::strcmp(call_names[call], "cudaStreamEndCapture") == 0;
}

} // namespace

template <auto Method, int number> struct FakeCudaEntry;

template <class... Arguments, cudaError_t (FakeCuda::*Method)(Arguments...), int number>
struct FakeCudaEntry<Method, number> {
    static cudaError_t call(Arguments... arguments) {
        const std::lock_guard<std::mutex> lock(current->mutex_);
        current->n_calls_[number]++;
        cudaError_t error = current->before(number);
        if (error == cudaSuccess && FakeCuda::breaks_capture(call_names[number])) {
            current->after(number, cudaErrorStreamCaptureUnsupported);
            return cudaErrorStreamCaptureUnsupported;
        }
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

thread_local int FakeCuda::current_device = 0;
thread_local FakeCuda::Stream *FakeCuda::capturing = nullptr;

FakeCuda::FakeCuda(uint64_t seed, const Options &options)
    : options_(options), queues_(seed), memory_(static_cast<size_t>(options.n_devices)),
      n_calls_(N_CALLS) {
    for (FakeDeviceMemory &memory : memory_)
        memory.total_bytes = options.total_bytes;
    current = this;
    current_device = 0;
    last_error = cudaSuccess;
    pti_cuda_faults_forget();
    pti_cuda_current_api = &fake_api;
}

FakeCuda::~FakeCuda() {
    pti_cuda_current_api = &pti_cuda_runtime;
    current = nullptr;
}

void FakeCuda::add_kernel(const void *symbol, const polytile_implementation &implementation) {
    kernels_[symbol] = implementation;
    if (implementation.cuda_pieces != nullptr)
        kernels_[implementation.cuda_pieces] = implementation;
    if (implementation.cuda_contiguous != nullptr)
        kernels_[implementation.cuda_contiguous] = implementation;
    if (implementation.cuda_coarse != nullptr)
        kernels_[implementation.cuda_coarse] = implementation;
    if (implementation.cuda_tiles != nullptr)
        kernels_[implementation.cuda_tiles] = implementation;
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
        {"graphs", static_cast<int64_t>(graphs_.size() + executables_.size())},
        {"libraries", static_cast<int64_t>(libraries_.size())},
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
    if (call == CALL_cudaGetLastError || call == CALL_cudaDriverGetVersion)
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
    properties->multiProcessorCount = n_multiprocessors;
    properties->warpSize = 32;
    properties->sharedMemPerMultiprocessor = options_.shared_bytes;
    properties->l2CacheSize = options_.cache_bytes;
    properties->sharedMemPerBlockOptin = options_.shared_bytes - reserved_shared_bytes;
    properties->maxThreadsPerBlock = max_block_threads;
    properties->maxThreadsPerMultiProcessor = threads_per_multiprocessor;
    properties->memPitch = max_pitch_bytes;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaDeviceCanAccessPeer(int *can_access, int number, int other) {
    for (int device : {number, other}) {
        if (device < 0 || device >= options_.n_devices)
            return cudaErrorInvalidDevice;
    }
    *can_access = options_.are_linked && number != other;
    return cudaSuccess;
}

/** Links add as they load. */
cudaError_t FakeCuda::cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute,
                                                int number, int other) {
    if (attribute != cudaDevP2PAttrNativeAtomicSupported)
        return cudaErrorInvalidValue;
    return cudaDeviceCanAccessPeer(value, number, other);
}

cudaError_t FakeCuda::cudaDeviceEnablePeerAccess(int other, unsigned flags) {
    if (flags != 0)
        return cudaErrorInvalidValue;
    if (other < 0 || other >= options_.n_devices || other == current_device)
        return cudaErrorInvalidDevice;
    if (!options_.are_linked)
        return cudaErrorPeerAccessUnsupported;
    return open_links_.insert({current_device, other}).second ? cudaSuccess
                                                              : cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t FakeCuda::cudaDriverGetVersion(int *version) {
    *version = options_.driver_version;
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
    await_teams();
    std::string why;
    bool found = allocated == nullptr;
    for (FakeDeviceMemory &memory : memory_)
        found = found || memory.release(allocated, &why);
    if (!why.empty())
        violate("cudaFree: " + why);
    return found ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t FakeCuda::cudaHostAlloc(void **allocated, size_t n_bytes, unsigned flags) {
    if ((flags & cudaHostAllocMapped) == 0)
        violate("cudaHostAlloc: memory that the GPU does not reach");
    const size_t page_bytes = 4096;
    *allocated =
        std::aligned_alloc(page_bytes, (n_bytes + page_bytes - 1) / page_bytes * page_bytes);
    return *allocated == nullptr ? cudaErrorMemoryAllocation
                                 : host_.add(byte_range(*allocated, n_bytes));
}

/** A fault is of all devices here: kernels of the others are still on their way to their ends. */
void FakeCuda::await_teams() {
    for (FakeTeam &team : teams_)
        if (fault_ != cudaSuccess)
            team.join();
}

cudaError_t FakeCuda::cudaFreeHost(void *allocated) {
    queues_.finish_all();
    await_teams();
    const cudaError_t error = host_.remove(allocated);
    if (error == cudaSuccess)
        std::free(allocated);
    return error;
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
    attributes->device = attributes->type == cudaMemoryTypeUnregistered ? -2
                         : attributes->type == cudaMemoryTypeDevice
                             ? std::max(device_of(byte_range(pointer, 1)), 0)
                             : 0;
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

int FakeCuda::device_of(const ByteRange &range) const {
    for (size_t device = 0; device < memory_.size(); device++) {
        if (memory_[device].contains(range))
            return static_cast<int>(device);
    }
    return -1;
}
