#include "gpu/hand_pipeline.h"

#include "gpu/gpu.h"

#include <algorithm>

namespace {

constexpr int kMaxBuffers = 3;
constexpr int kBlock = 256;

struct Buffer {
    float *x, *y, *z;
    cudaEvent_t filled, computed, drained;
};

__global__ void add(const float *x, const float *y, float *z, int64_t n) {
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

} // namespace

struct hand_pipeline {
    int64_t chunk;
    int n_buffers;
    Buffer buffer[kMaxBuffers];
    cudaStream_t in, compute, out;
};

int64_t hand_pipeline_bytes(int64_t chunk, int n_buffers) {
    return 3 * n_buffers * chunk * int64_t(sizeof(float));
}

hand_pipeline *hand_pipeline_create(int64_t chunk, int n_buffers) {
    auto *p = new hand_pipeline{chunk, n_buffers, {}, {}, {}, {}};
    for (cudaStream_t *stream : {&p->in, &p->compute, &p->out})
        GPU_CALL(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (int b = 0; b < n_buffers; b++) {
        Buffer &buffer = p->buffer[b];
        for (float **memory : {&buffer.x, &buffer.y, &buffer.z})
            GPU_CALL(cudaMalloc(memory, size_t(chunk) * sizeof(float)));
        for (cudaEvent_t *event : {&buffer.filled, &buffer.computed, &buffer.drained})
            GPU_CALL(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    }
    return p;
}

void hand_pipeline_destroy(hand_pipeline *p) {
    for (int b = 0; b < p->n_buffers; b++) {
        Buffer &buffer = p->buffer[b];
        for (float *memory : {buffer.x, buffer.y, buffer.z})
            GPU_CALL(cudaFree(memory));
        for (cudaEvent_t event : {buffer.filled, buffer.computed, buffer.drained})
            GPU_CALL(cudaEventDestroy(event));
    }
    for (cudaStream_t stream : {p->in, p->compute, p->out})
        GPU_CALL(cudaStreamDestroy(stream));
    delete p;
}

/** A buffer's inputs may be overwritten once they were added, its result once it was copied out; an
 * event that was never recorded is no obstacle. */
static void enqueue_chunk(hand_pipeline *p, Buffer &b, const float *x, const float *y, float *z,
                          int64_t n) {
    size_t n_bytes = size_t(n) * sizeof(float);
    GPU_CALL(cudaStreamWaitEvent(p->in, b.computed, 0));
    GPU_CALL(cudaMemcpyAsync(b.x, x, n_bytes, cudaMemcpyHostToDevice, p->in));
    GPU_CALL(cudaMemcpyAsync(b.y, y, n_bytes, cudaMemcpyHostToDevice, p->in));
    GPU_CALL(cudaEventRecord(b.filled, p->in));

    GPU_CALL(cudaStreamWaitEvent(p->compute, b.filled, 0));
    GPU_CALL(cudaStreamWaitEvent(p->compute, b.drained, 0));
    add<<<unsigned((n + kBlock - 1) / kBlock), kBlock, 0, p->compute>>>(b.x, b.y, b.z, n);
    GPU_CALL(cudaGetLastError());
    GPU_CALL(cudaEventRecord(b.computed, p->compute));

    GPU_CALL(cudaStreamWaitEvent(p->out, b.computed, 0));
    GPU_CALL(cudaMemcpyAsync(z, b.z, n_bytes, cudaMemcpyDeviceToHost, p->out));
    GPU_CALL(cudaEventRecord(b.drained, p->out));
}

void hand_pipeline_run(hand_pipeline *p, const float *x, const float *y, float *z, int64_t n) {
    for (int64_t begin = 0, k = 0; begin < n; begin += p->chunk, k++)
        enqueue_chunk(p, p->buffer[k % p->n_buffers], x + begin, y + begin, z + begin,
                      std::min(p->chunk, n - begin));
    GPU_CALL(cudaStreamSynchronize(p->out));
}
