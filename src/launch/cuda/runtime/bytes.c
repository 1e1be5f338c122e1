#include "launch/cuda/runtime/cuda.h"

/* Bytes as one piece, outside of runs: frames of a graph, which lie in their memory as on the
 * host. */

/** Zeros are set a row at a time, whose length CUDA bounds. */
enum { ROW_BYTES = 1 << 20 };

static polytile_status set_zeros(pti_cuda_device *cuda, char *to, size_t n_bytes) {
    const size_t n_rows = n_bytes / ROW_BYTES, rest = n_bytes % ROW_BYTES;
    cudaStream_t stream = cuda->stream[PTI_STREAM_IN];
    polytile_status status = POLYTILE_OK;
    if (n_rows > 0)
        PTI_TRY(PTI_CUDA(cuda, cudaMemset2DAsync, (to, ROW_BYTES, 0, ROW_BYTES, n_rows, stream)));
    if (rest > 0)
        PTI_TRY(
            PTI_CUDA(cuda, cudaMemset2DAsync, (to + n_rows * ROW_BYTES, rest, 0, rest, 1, stream)));
done:
    return status;
}

static polytile_status submit_copy(pti_cuda_device *cuda, const pti_byte_copy *copy) {
    static const enum cudaMemcpyKind kinds[] = {[PTI_WAY_IN] = cudaMemcpyHostToDevice,
                                                [PTI_WAY_OUT] = cudaMemcpyDeviceToHost,
                                                [PTI_WAY_WITHIN] = cudaMemcpyDeviceToDevice};
    const size_t n_bytes = (size_t)copy->n_bytes;
    cudaStream_t stream = cuda->stream[PTI_STREAM_IN];
    if (copy->from == NULL)
        return set_zeros(cuda, copy->to, n_bytes);
    if (copy->way == PTI_WAY_FROM_PEER)
        return PTI_CUDA(
            cuda, cudaMemcpyPeerAsync,
            (copy->to, cuda->number, copy->from, pti_cuda_of(copy->peer)->number, n_bytes, stream));
    return PTI_CUDA(cuda, cudaMemcpyAsync,
                    (copy->to, copy->from, n_bytes, kinds[copy->way], stream));
}

/** Wait also after a failure: what was submitted before must not run later. */
polytile_status pti_cuda_copy_bytes(polytile_device *device, const pti_byte_copy *copy) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    polytile_status status;
    if (copy->n_bytes == 0)
        return POLYTILE_OK;
    PTI_TRY(pti_cuda_enter(cuda));
    status = submit_copy(cuda, copy);
    if (status == POLYTILE_OK)
        return PTI_CUDA(cuda, cudaStreamSynchronize, (cuda->stream[PTI_STREAM_IN]));
    cuda->api->cudaStreamSynchronize(cuda->stream[PTI_STREAM_IN]);
done:
    return status;
}

bool pti_cuda_pin(polytile_device *device, void *memory, int64_t n_bytes) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    if (cuda->api->cudaSetDevice(cuda->number) == cudaSuccess &&
        cuda->api->cudaHostRegister(memory, (size_t)n_bytes, cudaHostRegisterPortable) ==
            cudaSuccess)
        return true;
    cuda->api->cudaGetLastError();
    return false;
}

void pti_cuda_unpin(polytile_device *device, void *memory) {
    pti_cuda_of(device)->api->cudaHostUnregister(memory);
}
