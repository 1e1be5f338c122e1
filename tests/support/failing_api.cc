#include "support/failing_api.h"

#include <chrono>
#include <thread>

namespace {

enum Call {
#define CALL(name, parameters) CALL_##name,
    PTI_CUDA_CALLS(CALL)
#undef CALL
};

const char *const call_names[] = {
#define NAME(name, parameters) #name,
    PTI_CUDA_CALLS(NAME)
#undef NAME
};

FailingApi *current = nullptr;

/** Of graphs, which not every CUDA has. */
bool ends_something(const std::string &call) {
    return call == "cudaStreamEndCapture" || call == "cudaGraphDestroy" ||
           call == "cudaGraphExecDestroy" || call == "cudaLibraryUnload";
}

bool does_its_work_first(int call) {
    switch (call) {
    case CALL_cudaFree:
    case CALL_cudaFreeHost:
    case CALL_cudaHostUnregister:
    case CALL_cudaStreamDestroy:
    case CALL_cudaEventDestroy:
    case CALL_cudaStreamSynchronize:
    case CALL_cudaEventSynchronize:
        return true;
    default:
        return ends_something(call_names[call]);
    }
}

} // namespace

template <auto Member, int number> struct FailingApiEntry;

template <class... Arguments, cudaError_t (*pti_cuda_api::*Member)(Arguments...), int number>
struct FailingApiEntry<Member, number> {
    static cudaError_t call(Arguments... arguments) {
        if (number == CALL_cudaHostUnregister)
            current->linger();
        const bool fails = current->is_due(number);
        if (fails && !does_its_work_first(number))
            return current->error_of(number);
        const cudaError_t error = (current->inner_->*Member)(arguments...);
        return fails ? current->error_of(number) : error;
    }
};

static const pti_cuda_api failing_api = {
#define ENTRY(name, parameters) FailingApiEntry<&pti_cuda_api::name, CALL_##name>::call,
    PTI_CUDA_CALLS(ENTRY)
#undef ENTRY
};

FailingApi::FailingApi() : inner_(pti_cuda_current_api) {
    current = this;
    pti_cuda_current_api = &failing_api;
}

FailingApi::~FailingApi() {
    pti_cuda_current_api = inner_;
    current = nullptr;
}

void FailingApi::let_fail(int64_t n, const std::string &name, cudaError_t error) {
    n_to_fail_ = n;
    name_ = name;
    error_ = error;
    failed_.clear();
}

bool FailingApi::is_due(int call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool counts = name_.empty() || name_ == call_names[call];
    if (n_to_fail_ == 0 || !counts || --n_to_fail_ > 0)
        return false;
    failed_ = call_names[call];
    return true;
}

/** In uneven steps, so that each time it is another moment. */
void FailingApi::linger() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int64_t step_us = most_us_ > 0 ? ++n_lingered_ * 37 % most_us_ : 0;
    lock.unlock();
    if (step_us > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(step_us));
}

cudaError_t FailingApi::error_of(int call) const {
    if (error_ != cudaSuccess)
        return error_;
    return call == CALL_cudaMalloc ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}
