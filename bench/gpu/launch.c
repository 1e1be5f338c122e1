#include "gpu/gpu.h"
#include "gpu/kernels.h"

enum { MAX_VIEWS = 8 };

void gpu_launch(const void *kernel, const polytile_domain *threads, int n_views,
                polytile_view *views, cudaStream_t stream) {
    polytile_domain box = *threads;
    void *arguments[1 + MAX_VIEWS] = {&box};
    int64_t n_threads = box.range[0].hi - box.range[0].lo + 1;
    dim3 grid = {(unsigned)((n_threads + GPU_PLAIN_BLOCK - 1) / GPU_PLAIN_BLOCK), 1, 1};
    dim3 block = {GPU_PLAIN_BLOCK, 1, 1};
    if (kernel == NULL)
        gpu_fail("the kernel has no CUDA part: was it compiled as CUDA?");
    for (int v = 0; v < n_views; v++)
        arguments[1 + v] = &views[v];
    GPU_CALL(cudaLaunchKernel(kernel, grid, block, arguments, 0, stream));
}

polytile_view gpu_view(const float *memory, int64_t lo, int64_t hi) {
    return (polytile_view){.origin = (void *)((uintptr_t)memory - (uintptr_t)lo * sizeof(float)),
                           .stride_bytes = {(int64_t)sizeof(float)},
                           .resident = polytile_domain_from_bounds(1, &lo, &hi)};
}
