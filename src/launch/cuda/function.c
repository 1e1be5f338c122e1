#include "launch/cuda/function.h"

/** Errors of CUDA that mean that it has no code for the kernel, and what to do about them. */
static const struct missing_code {
    cudaError_t error;
    const char *reason;
} missing_codes[] = {
    {cudaErrorInvalidDeviceFunction,
     "the CUDA runtime that the library uses does not know it; give the address of a __global__ "
     "function, and link a shared libpolytile and the program with one CUDA runtime (nvcc -cudart "
     "shared)"},
    {cudaErrorNoKernelImageForDevice,
     "it was compiled for other GPUs; compile it for this one as well (nvcc -arch=native)"},
};

polytile_status pti_cuda_check_kernel(pti_cuda_device *cuda, const pti_launch *launch,
                                      cudaError_t error, const char *call) {
    for (size_t k = 0; k < sizeof missing_codes / sizeof *missing_codes; k++) {
        if (error != missing_codes[k].error)
            continue;
        cuda->api->cudaGetLastError();
        return pti_fail(cuda->device.object.context, POLYTILE_UNSUPPORTED,
                        "cuda:%d cannot run the kernel of %s: %s (%s: %s)", cuda->number,
                        launch->instance->kernel_name, missing_codes[k].reason, call,
                        cudaGetErrorName(error));
    }
    return pti_cuda_check(cuda, error, call);
}

static bool fits_32_bits(int64_t number) {
    return number >= INT32_MIN && number <= INT32_MAX;
}

/** Whether a view's last dimension is contiguous, and all strides are numbers of 32 bits. */
static bool is_near(const polytile_view *view, const polytile_view_shape *shape) {
    bool is = view->stride_bytes[shape->n_dims - 1] == shape->element_bytes;
    for (int d = 0; d < shape->n_dims; d++)
        is = is && fits_32_bits(view->stride_bytes[d]);
    return is;
}

static bool are_near(const polytile_domain *threads) {
    bool are = true;
    for (int d = 0; d < threads->n_dims; d++)
        are = are && fits_32_bits(threads->range[d].lo) && fits_32_bits(threads->range[d].hi);
    return are;
}

const void *pti_cuda_kernel_for(const pti_launch *launch) {
    const polytile_implementation *implementation = launch->implementation;
    if (implementation->cuda_contiguous == NULL || implementation->views == NULL ||
        !are_near(launch->threads))
        return implementation->cuda;
    for (int a = 0; a < launch->instance->n_operands; a++) {
        if (!is_near(&launch->views[a], &implementation->views[a]))
            return implementation->cuda;
    }
    return implementation->cuda_contiguous;
}
