/* Jacobi's method on a plate with fixed edges, with CUDA: B from A, then A from B. */
#include "study.h"

#include <stdio.h>
#include <stdlib.h>

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static __global__ void update(const float *A, float *B, int64_t n) {
    const int64_t i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int64_t j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n - 1 && j < n - 1)
        B[i * n + j] =
            (A[i * n + j - 1] + A[i * n + j + 1] + A[(i - 1) * n + j] + A[(i + 1) * n + j]) / 4;
}

static __global__ void copy(const float *B, float *A, int64_t n) {
    const int64_t i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int64_t j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n - 1 && j < n - 1)
        A[i * n + j] = B[i * n + j];
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N STEPS");
    const int64_t n = study_number(argv[1]);
    const int64_t n_steps = study_number(argv[2]);
    const size_t n_bytes = sizeof(float) * (size_t)(n * n);
    float *A = study_create_floats(n, 1);

    float *device_A, *device_B;
    check(cudaMalloc(&device_A, n_bytes), "allocating A");
    check(cudaMalloc(&device_B, n_bytes), "allocating B");
    check(cudaMemcpy(device_A, A, n_bytes, cudaMemcpyHostToDevice), "copying A to the device");

    const dim3 block(32, 8);
    const dim3 grid((unsigned)((n + block.x - 1) / block.x),
                    (unsigned)((n + block.y - 1) / block.y));
    for (int64_t step = 0; step < n_steps; step++) {
        update<<<grid, block>>>(device_A, device_B, n);
        check(cudaGetLastError(), "launching update");
        copy<<<grid, block>>>(device_B, device_A, n);
        check(cudaGetLastError(), "launching copy");
    }
    check(cudaDeviceSynchronize(), "running the steps");

    check(cudaMemcpy(A, device_A, n_bytes, cudaMemcpyDeviceToHost), "copying A to the host");
    check(cudaFree(device_A), "freeing A");
    check(cudaFree(device_B), "freeing B");

    study_end(A, n);
    return 0;
}
