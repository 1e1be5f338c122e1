#include "pinned.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

const char *memory_pin(void *memory, int64_t n_bytes) {
    cudaError_t error = cudaHostRegister(memory, (size_t)n_bytes, cudaHostRegisterPortable);
    if (error == cudaSuccess)
        return NULL;
    cudaGetLastError();
    return cudaGetErrorString(error);
}

void memory_unpin(void *memory) {
    cudaHostUnregister(memory);
}
