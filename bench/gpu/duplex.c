#include "gpu/duplex.h"

#include "gpu/gpu.h"

void duplex_prepare(duplex *d) {
    size_t n_bytes = (size_t)d->n_bytes;
    for (int k = 0; k < d->n_in; k++)
        GPU_CALL(cudaMalloc(&d->device_in[k], n_bytes));
    GPU_CALL(cudaMalloc(&d->device_out, n_bytes));
    GPU_CALL(cudaMemcpy(d->device_out, d->in[0], n_bytes, cudaMemcpyHostToDevice));
    GPU_CALL(cudaStreamCreateWithFlags(&d->stream_in, cudaStreamNonBlocking));
    GPU_CALL(cudaStreamCreateWithFlags(&d->stream_out, cudaStreamNonBlocking));
}

double duplex_time(const duplex *d) {
    size_t n_bytes = (size_t)d->n_bytes;
    double start_s = bench_now_s();
    for (int k = 0; k < d->n_in; k++)
        GPU_CALL(cudaMemcpyAsync(d->device_in[k], d->in[k], n_bytes, cudaMemcpyHostToDevice,
                                 d->stream_in));
    GPU_CALL(
        cudaMemcpyAsync(d->out, d->device_out, n_bytes, cudaMemcpyDeviceToHost, d->stream_out));
    GPU_CALL(cudaStreamSynchronize(d->stream_in));
    GPU_CALL(cudaStreamSynchronize(d->stream_out));
    return bench_now_s() - start_s;
}
