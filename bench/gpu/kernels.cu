#include "gpu/kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(gather, (i), (const float, x, 1), (float, y, 1)) {
    float sum = (float)(i % GATHER_PERIOD);
    for (int64_t k = PT_FIRST(x, 0); k <= PT_LAST(x, 0); k++)
        sum += PT_AT(x, k) * (float)((i + k) % GATHER_WEIGHTS);
    PT_AT(y, i) = sum;
}

const polytile_implementation *gpu_gather(void) {
    return &gather_kernel;
}

static __global__ void plain_add(const float *x, const float *y, float *z, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

const void *gpu_plain_add(void) {
    return (const void *)plain_add;
}
