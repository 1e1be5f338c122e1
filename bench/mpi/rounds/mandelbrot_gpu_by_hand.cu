#include "mandelbrot_gpu.h"
#include "mandelbrot_kernels.h"

#include <stdio.h>
#include <stdlib.h>

static int32_t *device_rows;

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

static __global__ void compute(int n, int first, int n_elements, int32_t *rows) {
    const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (k < n_elements)
        rows[k] = mandelbrot_point(n, first + k / n, k % n);
}

int32_t *mandelbrot_gpu_begin(int device, int n_elements) {
    const size_t n_bytes = sizeof(int32_t) * (size_t)n_elements;
    int32_t *rows;
    check(cudaSetDevice(device), "choosing the device");
    check(cudaMalloc(&device_rows, n_bytes), "allocating rows on the device");
    check(cudaMallocHost(&rows, n_bytes), "allocating rows on the host");
    return rows;
}

void mandelbrot_gpu_rows(int n, int first, int n_rows, int32_t *rows) {
    const int n_elements = n_rows * n, n_threads = 128;
    compute<<<(unsigned)((n_elements + n_threads - 1) / n_threads), n_threads>>>(
        n, first, n_elements, device_rows);
    check(cudaGetLastError(), "launching compute");
    check(
        cudaMemcpy(rows, device_rows, sizeof(int32_t) * (size_t)n_elements, cudaMemcpyDeviceToHost),
        "copying rows to the host");
}

void mandelbrot_gpu_end(int32_t *rows) {
    check(cudaFree(device_rows), "freeing rows on the device");
    check(cudaFreeHost(rows), "freeing rows on the host");
}
