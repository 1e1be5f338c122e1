#include "support/fake_cuda.h"

#include <cstring>

extern "C" {
#include "launch/cuda/loop_code.h"
}

/* Graphs with WHILE nodes, as the library makes them, and the capture of streams. */

#if CUDART_VERSION >= 13000

namespace {

template <class T> T handle_of(uintptr_t number) {
    return reinterpret_cast<T>(number << 8);
}

} // namespace

/** Enqueue work, or add it to the graph that captures the stream. */
void FakeCuda::submit(Stream *stream, FakeQueues::Work work) {
    if (stream->captured_by == nullptr)
        queues_.enqueue(stream->queue, std::move(work));
    else
        graphs_[stream->captured_by].nodes.push_back(std::move(work));
}

/** Whether the calling thread captures a stream, and CUDA does not do a call meanwhile: that spoils
 * the capture. */
bool FakeCuda::breaks_capture(const char *call) {
    static const char *const forbidden[] = {
        "cudaMalloc",           "cudaFree",        "cudaHostAlloc",         "cudaFreeHost",
        "cudaHostRegister",     "cudaEventQuery",  "cudaStreamSynchronize", "cudaEventSynchronize",
        "cudaLibraryLoadData",  "cudaEventRecord", "cudaGraphLaunch",       "cudaHostUnregister",
        "cudaEventElapsedTime",
    };
    for (const char *name : forbidden) {
        if (capturing != nullptr && std::strcmp(name, call) == 0) {
            capturing->is_capture_broken = true;
            return true;
        }
    }
    return false;
}

cudaError_t FakeCuda::cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                          enum cudaJitOption *, void **, unsigned n_jit_options,
                                          enum cudaLibraryOption *, void **, unsigned n_options) {
    if (code != pti_loop_code || n_jit_options != 0 || n_options != 0)
        return cudaErrorInvalidPtx;
    *library = handle_of<cudaLibrary_t>(++last_handle_);
    libraries_.insert(*library);
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaLibraryUnload(cudaLibrary_t library) {
    return libraries_.erase(library) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t FakeCuda::cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                           const char *name) {
    if (libraries_.count(library) == 0)
        return cudaErrorInvalidResourceHandle;
    if (std::strcmp(name, PTI_LOOP_KERNEL) != 0)
        return cudaErrorSymbolNotFound;
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<char *>(pti_loop_code));
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
    if (flags != 0)
        return cudaErrorInvalidValue;
    *graph = handle_of<cudaGraph_t>(++last_handle_);
    graphs_[*graph] = {};
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaGraphDestroy(cudaGraph_t graph) {
    const auto found = graphs_.find(graph);
    if (found == graphs_.end())
        return cudaErrorInvalidValue;
    graphs_.erase(found->second.body[0]);
    graphs_.erase(graph);
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle,
                                                       cudaGraph_t graph, unsigned value,
                                                       unsigned flags) {
    if (graphs_.count(graph) == 0 || value != 0 || flags != 0)
        return cudaErrorInvalidValue;
    *handle = ++last_handle_;
    conditions_[*handle] = 0;
    return cudaSuccess;
}

/** The library's kernel, that sets a condition by a number on the device. */
FakeQueues::Work FakeCuda::set_condition(void **arguments) {
    const auto handle = *static_cast<const cudaGraphConditionalHandle *>(arguments[0]);
    const auto *number = *static_cast<const int32_t *const *>(arguments[1]);
    const auto *stop = *static_cast<const int32_t *const *>(arguments[2]);
    return [this, handle, number, stop] {
        bool is_pinned = false;
        if (host_.find_pinned(byte_range(stop, sizeof *stop), &is_pinned) != cudaSuccess ||
            !is_pinned)
            violate("whether loops are to stop is not in pinned memory");
        if (!is_allocated(byte_range(number, sizeof *number))) {
            violate("the number of a launcher's condition is not in device memory");
            fault();
            return;
        }
        conditions_[handle] = *number != 0 && *stop == 0;
    };
}

cudaError_t FakeCuda::cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, const cudaGraphEdgeData *edges,
                                       size_t n_after, struct cudaGraphNodeParams *of) {
    const auto found = graphs_.find(graph);
    if (found == graphs_.end() || edges != nullptr || (n_after > 0) != (after != nullptr))
        return cudaErrorInvalidValue;
    Graph &to = found->second;
    if (n_after != (to.nodes.empty() ? 0u : 1u) || (n_after == 1 && *after != to.last)) {
        violate("a node of a graph does not follow the one before it");
        return cudaErrorInvalidValue;
    }
    *node = to.last = handle_of<cudaGraphNode_t>(++last_handle_);
    if (of->type == cudaGraphNodeTypeKernel && of->kernel.func == pti_loop_code) {
        to.nodes.push_back(set_condition(of->kernel.kernelParams));
        return cudaSuccess;
    }
    if (of->type != cudaGraphNodeTypeConditional || of->conditional.size != 1 ||
        of->conditional.type != cudaGraphCondTypeWhile || to.body[0] != nullptr ||
        conditions_.count(of->conditional.handle) == 0)
        return cudaErrorInvalidValue;
    to.handle = of->conditional.handle;
    to.body[0] = handle_of<cudaGraph_t>(++last_handle_);
    graphs_[to.body[0]] = {};
    of->conditional.phGraph_out = graphs_[graph].body;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                    const cudaGraphNode_t *,
                                                    const cudaGraphEdgeData *, size_t n_after,
                                                    enum cudaStreamCaptureMode mode) {
    Stream *own = stream == nullptr ? nullptr : find(stream);
    if (own == nullptr || own->captured_by != nullptr || graphs_.count(graph) == 0 ||
        !graphs_[graph].nodes.empty() || n_after != 0)
        return cudaErrorInvalidValue;
    if (mode != cudaStreamCaptureModeThreadLocal)
        violate("a capture that forbids other threads their calls, or nothing to this one");
    own->captured_by = graph;
    capturing = own;
    return cudaSuccess;
}

cudaError_t FakeCuda::cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    Stream *own = stream == nullptr ? nullptr : find(stream);
    if (own == nullptr || own->captured_by == nullptr)
        return cudaErrorIllegalState;
    *graph = own->is_capture_broken ? nullptr : own->captured_by;
    own->captured_by = nullptr;
    capturing = nullptr;
    own->is_capture_broken = false;
    return *graph == nullptr ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

cudaError_t FakeCuda::cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph,
                                           unsigned long long flags) {
    const auto found = graphs_.find(graph);
    if (found == graphs_.end() || flags != 0 || found->second.body[0] == nullptr ||
        graphs_[found->second.body[0]].nodes.empty())
        return cudaErrorInvalidValue;
    if (options_.loop_error != cudaSuccess)
        return options_.loop_error;
    *made = handle_of<cudaGraphExec_t>(++last_handle_);
    executables_[*made] = {found->second.nodes, graphs_[found->second.body[0]].nodes,
                           found->second.handle};
    return cudaSuccess;
}

/** A graph of other nodes is refused. What was launched before goes on as it was. */
cudaError_t FakeCuda::cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
                                          cudaGraphExecUpdateResultInfo *result) {
    const auto found = executables_.find(made);
    if (found == executables_.end() || graphs_.count(graph) == 0 ||
        graphs_[graph].body[0] == nullptr)
        return cudaErrorInvalidValue;
    const Graph &from = graphs_[graph], &body = graphs_[from.body[0]];
    *result = {};
    if (body.nodes.size() != found->second.body.size())
        return cudaErrorGraphExecUpdateFailure;
    found->second = {from.nodes, body.nodes, from.handle};
    return cudaSuccess;
}

/** Run one more round of a loop, unless it has none; whether it is over then. After a fault nothing
 * is, since all that was pending is gone. */
bool FakeCuda::is_loop_over(const Loop &loop) {
    if (conditions_[loop.handle] == 0)
        return true;
    for (const FakeQueues::Work &node : loop.body) {
        node();
        if (fault_ != cudaSuccess)
            return false;
    }
    n_looped_++;
    return conditions_[loop.handle] == 0;
}

cudaError_t FakeCuda::cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    Stream *own = find(stream);
    const auto found = executables_.find(graph);
    if (own == nullptr || found == executables_.end() || own->device != current_device)
        return cudaErrorInvalidResourceHandle;
    const auto loop = std::make_shared<const Loop>(found->second);
    queues_.enqueue_running(
        own->queue,
        [loop] {
            for (const FakeQueues::Work &node : loop->begin)
                node();
        },
        [this, loop] {
            const auto kept = loop;
            return is_loop_over(*kept);
        });
    return cudaSuccess;
}

/** Waits for the loop's end, as CUDA does. */
cudaError_t FakeCuda::cudaGraphExecDestroy(cudaGraphExec_t graph) {
    queues_.finish_all();
    return executables_.erase(graph) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

#else

void FakeCuda::submit(Stream *stream, FakeQueues::Work work) {
    queues_.enqueue(stream->queue, std::move(work));
}

bool FakeCuda::breaks_capture(const char *) {
    return false;
}

FakeQueues::Work FakeCuda::set_condition(void **) {
    return [] {};
}

#endif
