#include "gpu/lanes.h"

#include "apsp_kernels.h"

#include <vector>

/* Crauser's algorithm by hand: of each source a CUDA graph, whose WHILE node repeats rounds of
 * relax, minimum and update until nothing changes. A vertex has a CUDA thread. */

#if CUDART_VERSION >= 13000

namespace {

enum { UNSETTLED = 1, FRONTIER = 2 };
enum { BLOCK = 256, MOST_BLOCKS = 2048 };

/** Leave the function with the error of a call. */
#define TRY_CUDA(call)                                                                             \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess)                                                                 \
            return error_;                                                                         \
    } while (0)

/** In device memory; of state, distances and the limit of a round each source has its own. */
struct source_arrays {
    int64_t n, s;
    const int64_t *first;
    const int32_t *target, *weight, *least;
    uint8_t *state;
    int32_t *distance, *limit;
};

__device__ int64_t first_vertex() {
    return blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
}

__device__ int64_t vertices_apart() {
    return gridDim.x * (int64_t)blockDim.x;
}

__device__ int32_t arrive(int32_t distance, int32_t weight) {
    return distance > APSP_UNREACHED - weight ? APSP_UNREACHED : distance + weight;
}

__global__ void begin(source_arrays a) {
    if (first_vertex() == 0)
        *a.limit = APSP_UNREACHED;
    for (int64_t v = first_vertex(); v < a.n; v += vertices_apart()) {
        a.distance[v] = v == a.s ? 0 : APSP_UNREACHED;
        a.state[v] = v == a.s ? FRONTIER : UNSETTLED;
    }
}

__global__ void relax(source_arrays a) {
    for (int64_t u = first_vertex(); u < a.n; u += vertices_apart()) {
        if ((a.state[u] & FRONTIER) == 0)
            continue;
        for (int64_t k = a.first[u]; k < a.first[u + 1]; k++) {
            const int32_t end = arrive(a.distance[u], a.weight[k]);
            if (end < a.distance[a.target[k]])
                atomicMin(&a.distance[a.target[k]], end);
        }
    }
}

__global__ void minimum(source_arrays a) {
    __shared__ int32_t limit;
    int32_t own = APSP_UNREACHED;
    if (threadIdx.x == 0)
        limit = APSP_UNREACHED;
    __syncthreads();
    for (int64_t v = first_vertex(); v < a.n; v += vertices_apart())
        if ((a.state[v] & UNSETTLED) != 0)
            own = min(own, arrive(a.distance[v], a.least[v]));
    for (int apart = 16; apart > 0; apart /= 2)
        own = min(own, __shfl_down_sync(0xffffffff, own, apart));
    if (threadIdx.x % 32 == 0)
        atomicMin(&limit, own);
    __syncthreads();
    if (threadIdx.x == 0 && limit < APSP_UNREACHED)
        atomicMin(a.limit, limit);
}

__global__ void update(source_arrays a) {
    const int32_t limit = *a.limit;
    for (int64_t v = first_vertex(); v < a.n && limit < APSP_UNREACHED; v += vertices_apart())
        a.state[v] = (a.state[v] & UNSETTLED) == 0 ? 0
                     : a.distance[v] <= limit      ? FRONTIER
                                                   : UNSETTLED;
}

__global__ void turn(source_arrays a, cudaGraphConditionalHandle rounds) {
    cudaGraphSetConditional(rounds, *a.limit < APSP_UNREACHED);
    *a.limit = APSP_UNREACHED;
}

int count_blocks(int64_t n) {
    const int64_t n_wanted = (n + BLOCK - 1) / BLOCK;
    return (int)(n_wanted < MOST_BLOCKS ? n_wanted : (int64_t)MOST_BLOCKS);
}

} /* namespace */

struct lanes_by_hand {
    lanes_graph of;
    int32_t *distances;
    std::vector<source_arrays> source;
    std::vector<cudaStream_t> stream;
    std::vector<cudaGraphExec_t> rounds;
    std::vector<void *> memory;
};

namespace {

template <class T> cudaError_t allocate(lanes_by_hand *by_hand, int64_t n, T **memory) {
    TRY_CUDA(cudaMalloc((void **)memory, (size_t)n * sizeof(T)));
    by_hand->memory.push_back(*memory);
    return cudaSuccess;
}

template <class T>
cudaError_t give(lanes_by_hand *by_hand, int64_t n, const T *from, const T **memory) {
    T *made = nullptr;
    TRY_CUDA(allocate(by_hand, n, &made));
    *memory = made;
    return cudaMemcpy(made, from, (size_t)n * sizeof(T), cudaMemcpyHostToDevice);
}

cudaError_t make_arrays(lanes_by_hand *by_hand) {
    const lanes_graph &of = by_hand->of;
    source_arrays a = {};
    a.n = of.n_vertices;
    TRY_CUDA(give(by_hand, of.n_vertices + 1, of.first, &a.first));
    TRY_CUDA(give(by_hand, of.n_arcs, of.target, &a.target));
    TRY_CUDA(give(by_hand, of.n_arcs, of.weight, &a.weight));
    TRY_CUDA(give(by_hand, of.n_vertices, of.least, &a.least));
    TRY_CUDA(allocate(by_hand, of.n_sources * of.n_vertices, &a.state));
    TRY_CUDA(allocate(by_hand, of.n_sources * of.n_vertices, &a.distance));
    TRY_CUDA(allocate(by_hand, of.n_sources, &a.limit));
    by_hand->distances = a.distance;
    for (; a.s < of.n_sources; a.s++) {
        by_hand->source.push_back(a);
        a.state += a.n;
        a.distance += a.n;
        a.limit++;
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

cudaError_t make_rounds(const source_arrays &a, cudaStream_t stream, cudaGraphExec_t *made) {
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
    update<<<n_blocks, BLOCK, 0, stream>>>(a);
    turn<<<1, 1, 0, stream>>>(a, handle);
    TRY_CUDA(cudaStreamEndCapture(stream, &body));
    TRY_CUDA(cudaGraphInstantiate(made, graph, 0));
    return cudaGraphDestroy(graph);
}

cudaError_t make_all_rounds(lanes_by_hand *by_hand) {
    for (const source_arrays &a : by_hand->source) {
        cudaStream_t stream;
        cudaGraphExec_t rounds;
        TRY_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        by_hand->stream.push_back(stream);
        TRY_CUDA(make_rounds(a, stream, &rounds));
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
        const source_arrays &a = by_hand->source[s];
        begin<<<count_blocks(a.n), BLOCK, 0, by_hand->stream[s]>>>(a);
        TRY_CUDA(cudaGraphLaunch(by_hand->rounds[s], by_hand->stream[s]));
    }
    for (cudaStream_t stream : by_hand->stream)
        TRY_CUDA(cudaStreamSynchronize(stream));
    return cudaGetLastError();
}

cudaError_t lanes_by_hand_destroy(lanes_by_hand *by_hand, int32_t *distances) {
    const size_t n_bytes =
        (size_t)(by_hand->of.n_sources * by_hand->of.n_vertices) * sizeof *distances;
    TRY_CUDA(cudaMemcpy(distances, by_hand->distances, n_bytes, cudaMemcpyDeviceToHost));
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
