/* A hundred times C += A + B with CUDA. */
#include "study.h"

#include <stdio.h>
#include <stdlib.h>

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static __global__ void add(const int *A, const int *B, int *C, int64_t n) {
    const int64_t i = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n)
        return;
    for (int repetition = 0; repetition < 100; repetition++)
        C[i * n + j] += A[i * n + j] + B[i * n + j];
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N");
    const int64_t n = study_number(argv[1]);
    const size_t n_bytes = sizeof(int) * (size_t)(n * n);
    int *A = study_create_ints(n, 1);
    int *B = study_create_ints(n, 2);
    int *C = study_create_ints(n, 0);

    int *device_A, *device_B, *device_C;
    check(cudaMalloc(&device_A, n_bytes), "allocating A");
    check(cudaMalloc(&device_B, n_bytes), "allocating B");
    check(cudaMalloc(&device_C, n_bytes), "allocating C");
    check(cudaMemcpy(device_A, A, n_bytes, cudaMemcpyHostToDevice), "copying A to the device");
    check(cudaMemcpy(device_B, B, n_bytes, cudaMemcpyHostToDevice), "copying B to the device");
    check(cudaMemcpy(device_C, C, n_bytes, cudaMemcpyHostToDevice), "copying C to the device");

    const dim3 block(32, 8);
    const dim3 grid((unsigned)((n + block.x - 1) / block.x),
                    (unsigned)((n + block.y - 1) / block.y));
    add<<<grid, block>>>(device_A, device_B, device_C, n);
    check(cudaGetLastError(), "launching add");
    check(cudaDeviceSynchronize(), "running add");

    check(cudaMemcpy(C, device_C, n_bytes, cudaMemcpyDeviceToHost), "copying C to the host");
    check(cudaFree(device_A), "freeing A");
    check(cudaFree(device_B), "freeing B");
    check(cudaFree(device_C), "freeing C");

    study_end(C, n);
    return 0;
}
