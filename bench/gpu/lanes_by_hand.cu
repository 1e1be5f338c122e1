#include "gpu/lanes.h"

#include "gpu/lanes_kernels.h"

#include <cstdlib>
#include <vector>

/* A CUDA graph a source, whose WHILE node repeats the rounds. */

#if CUDART_VERSION >= 13000

struct lanes_by_hand {
    lanes_graph of;
    arrays shared; /* of which each source has a row of its own, and turns */
    std::vector<arrays> source;
    std::vector<cudaStream_t> stream;
    std::vector<cudaGraphExec_t> rounds;
    std::vector<void *> memory;
};

namespace {

/** Leave the function with the error of a call. */
#define TRY_CUDA(call)                                                                             \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess)                                                                 \
            return error_;                                                                         \
    } while (0)

__global__ void turn_loop(arrays a, int64_t last, cudaGraphConditionalHandle rounds) {
    if (a.turn[LIMIT] == APSP_UNREACHED)
        a.turn[GOES_ON] = a.turn[SOURCE]++ < last;
    a.turn[LIMIT] = APSP_UNREACHED;
    cudaGraphSetConditional(rounds, a.turn[GOES_ON] != 0);
}

cudaError_t allocate(lanes_by_hand *by_hand, int64_t n_bytes, const void *from, void **memory) {
    TRY_CUDA(cudaMalloc(memory, (size_t)n_bytes));
    by_hand->memory.push_back(*memory);
    return from == nullptr ? cudaSuccess
                           : cudaMemcpy(*memory, from, (size_t)n_bytes, cudaMemcpyHostToDevice);
}

template <class T>
cudaError_t give(lanes_by_hand *by_hand, int64_t n, const T *from, const T **memory) {
    void *made = nullptr;
    const cudaError_t error = allocate(by_hand, n * (int64_t)sizeof(T), from, &made);
    *memory = (const T *)made;
    return error;
}

/** A view of rows in device memory, as bodies have it. */
cudaError_t make_rows(lanes_by_hand *by_hand, int64_t row_bytes, int64_t element_bytes,
                      polytile_view *view) {
    *view = {};
    view->stride_bytes[0] = row_bytes;
    view->stride_bytes[1] = element_bytes;
    return allocate(by_hand, by_hand->of.n_sources * row_bytes, nullptr, &view->origin);
}

cudaError_t make_arrays(lanes_by_hand *by_hand) {
    const lanes_graph &of = by_hand->of;
    arrays *a = &by_hand->shared;
    void *turns = nullptr;
    a->n = of.n_vertices;
    TRY_CUDA(give(by_hand, of.n_vertices + 1, of.first, &a->first));
    TRY_CUDA(give(by_hand, of.n_arcs, of.target, &a->target));
    TRY_CUDA(give(by_hand, of.n_arcs, of.weight, &a->weight));
    TRY_CUDA(give(by_hand, of.n_vertices, of.least, &a->least));
    TRY_CUDA(make_rows(by_hand, of.n_vertices, 1, &a->state));
    TRY_CUDA(make_rows(by_hand, 4 * of.n_vertices, 4, &a->dist));
    TRY_CUDA(allocate(by_hand, of.n_sources * 3 * (int64_t)sizeof(int32_t), nullptr, &turns));
    for (int64_t s = 0; s < of.n_sources; s++) {
        by_hand->source.push_back(*a);
        by_hand->source.back().turn = (int32_t *)turns + 3 * s;
    }
    return cudaSuccess;
}

cudaError_t add_loop(cudaGraph_t graph, cudaGraphConditionalHandle handle, cudaGraph_t *body) {
    cudaGraphNode_t node;
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    TRY_CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    *body = params.conditional.phGraph_out[0];
    return cudaSuccess;
}

cudaError_t make_rounds(const arrays &a, int64_t s, cudaStream_t stream, cudaGraphExec_t *made) {
    const int n_blocks = count_blocks(a.n);
    cudaGraph_t graph, body;
    cudaGraphConditionalHandle handle;
    TRY_CUDA(cudaGraphCreate(&graph, 0));
    TRY_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    TRY_CUDA(add_loop(graph, handle, &body));
    TRY_CUDA(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                           cudaStreamCaptureModeThreadLocal));
    relax<<<n_blocks, BLOCK, 0, stream>>>(a);
    minimum<<<n_blocks, BLOCK, 0, stream>>>(a);
    update<<<n_blocks, BLOCK, 0, stream>>>(a, s);
    turn_loop<<<1, 1, 0, stream>>>(a, s, handle);
    TRY_CUDA(cudaStreamEndCapture(stream, &body));
    TRY_CUDA(cudaGraphInstantiate(made, graph, 0));
    return cudaGraphDestroy(graph);
}

cudaError_t make_all_rounds(lanes_by_hand *by_hand) {
    for (int64_t s = 0; s < by_hand->of.n_sources; s++) {
        cudaStream_t stream;
        cudaGraphExec_t rounds;
        TRY_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        by_hand->stream.push_back(stream);
        TRY_CUDA(make_rounds(by_hand->source[(size_t)s], s, stream, &rounds));
        by_hand->rounds.push_back(rounds);
    }
    return cudaSuccess;
}

} /* namespace */

bool lanes_has_while_nodes(void) {
    return true;
}

cudaError_t lanes_by_hand_create(const lanes_graph *graph, lanes_by_hand **made) {
    *made = new lanes_by_hand();
    (*made)->of = *graph;
    TRY_CUDA(make_arrays(*made));
    return make_all_rounds(*made);
}

cudaError_t lanes_by_hand_run(lanes_by_hand *by_hand) {
    for (size_t s = 0; s < by_hand->source.size(); s++) {
        const arrays &a = by_hand->source[s];
        begin<<<count_blocks(a.n), BLOCK, 0, by_hand->stream[s]>>>(a, (int64_t)s);
        TRY_CUDA(cudaGraphLaunch(by_hand->rounds[s], by_hand->stream[s]));
    }
    for (cudaStream_t stream : by_hand->stream)
        TRY_CUDA(cudaStreamSynchronize(stream));
    return cudaGetLastError();
}

cudaError_t lanes_by_hand_destroy(lanes_by_hand *by_hand, int32_t *distances) {
    const size_t n_bytes =
        (size_t)(by_hand->of.n_sources * by_hand->of.n_vertices) * sizeof *distances;
    TRY_CUDA(cudaMemcpy(distances, by_hand->shared.dist.origin, n_bytes, cudaMemcpyDeviceToHost));
    for (size_t s = 0; s < by_hand->stream.size(); s++) {
        TRY_CUDA(cudaGraphExecDestroy(by_hand->rounds[s]));
        TRY_CUDA(cudaStreamDestroy(by_hand->stream[s]));
    }
    for (void *memory : by_hand->memory)
        TRY_CUDA(cudaFree(memory));
    delete by_hand;
    return cudaSuccess;
}

#else

bool lanes_has_while_nodes(void) {
    return false;
}

cudaError_t lanes_by_hand_create(const lanes_graph *, lanes_by_hand **) {
    return cudaErrorNotSupported;
}

cudaError_t lanes_by_hand_run(lanes_by_hand *) {
    return cudaErrorNotSupported;
}

cudaError_t lanes_by_hand_destroy(lanes_by_hand *, int32_t *) {
    return cudaErrorNotSupported;
}

#endif
