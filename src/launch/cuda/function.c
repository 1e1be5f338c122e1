#include "launch/cuda/function.h"

#include "base/checked.h"

#include <string.h>

/** CUDA's errors for a kernel without code, and what to do about them. */
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

polytile_status pti_cuda_check_kernel(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                      cudaError_t error, const char *call) {
    for (size_t k = 0; k < sizeof missing_codes / sizeof *missing_codes; k++) {
        if (error != missing_codes[k].error)
            continue;
        cuda->api->cudaGetLastError();
        return pti_fail(cuda->device.object.context, POLYTILE_UNSUPPORTED,
                        "cuda:%d cannot run the kernel of %s: %s (%s: %s)", cuda->number,
                        sub_kernel->instance->kernel_name, missing_codes[k].reason, call,
                        cudaGetErrorName(error));
    }
    return pti_cuda_check(cuda, error, call);
}

static bool fits_32_bits(int64_t number) {
    return number >= INT32_MIN && number <= INT32_MAX;
}

/** Return whether a view's last dimension is contiguous, and all strides are numbers of 32 bits. */
static bool has_32_bit_strides(const polytile_view *view, const polytile_view_shape *shape) {
    bool is = view->stride_bytes[shape->n_dims - 1] == shape->element_bytes;
    for (int d = 0; d < shape->n_dims; d++)
        is = is && fits_32_bits(view->stride_bytes[d]);
    return is && (view->first_piece & POLYTILE_BEYOND) == 0;
}

/** Return whether the indices of threads fit 32 bits and have no steps between them. */
static bool fit_32_bits(const pti_sub_kernel *sub_kernel) {
    polytile_domain threads = pti_instance_asked_box(sub_kernel->instance, sub_kernel->threads);
    bool are = true;
    for (int d = 0; d < threads.n_dims; d++)
        are = are && fits_32_bits(threads.range[d].lo) && fits_32_bits(threads.range[d].hi) &&
              threads.range[d].step == 1;
    return are;
}

const void *pti_cuda_kernel_for(const pti_sub_kernel *sub_kernel) {
    const polytile_implementation *implementation = sub_kernel->config.implementation;
    if (pti_sub_kernel_has_pieces(sub_kernel))
        return implementation->cuda_pieces;
    if (implementation->cuda_contiguous == NULL || implementation->views == NULL ||
        !fit_32_bits(sub_kernel))
        return implementation->cuda;
    for (int a = 0; a < pti_instance_n_arrays(sub_kernel->instance); a++) {
        if (!has_32_bit_strides(&sub_kernel->views[a], &implementation->views[a]))
            return implementation->cuda;
    }
    return implementation->cuda_contiguous;
}

/* The threads, views, values, and the list of pieces or the origin of each view. */
enum {
    MAX_VIEWS = PTI_CUDA_ARGUMENT_BYTES / sizeof(polytile_view),
    MAX_ARGUMENTS = 2 + 2 * MAX_VIEWS + POLYTILE_MAX_PARAMETERS
};

cudaStream_t pti_cuda_stream_of(const pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel) {
    return pti_cuda_stream(cuda, pti_lane_stream(sub_kernel->lane));
}

static dim3 dim3_of(pti_cuda_extents extents) {
    return (dim3){(unsigned)extents.x, (unsigned)extents.y, (unsigned)extents.z};
}

/** Copy the list of pieces, which stands after all other views. */
static void copy_pieces(const pti_sub_kernel *sub_kernel, polytile_pieces *pieces) {
    const polytile_view *list = sub_kernel->views + pti_instance_n_arrays(sub_kernel->instance) +
                                sub_kernel->config.n_values;
    const int n_most = (int)pti_min(POLYTILE_MAX_PIECES, sub_kernel->instance->n_operands);
    *pieces = (polytile_pieces){0};
    memcpy(pieces->piece, list, (size_t)n_most * sizeof *list);
}

/** List the arguments of a kernel after its threads. pieces: memory for the list of them. */
static void list_arguments(const pti_sub_kernel *sub_kernel, const pti_cuda_variant *variant,
                           polytile_pieces *pieces, void **arguments) {
    const int n_arrays = pti_instance_n_arrays(sub_kernel->instance),
              n_values = sub_kernel->config.n_values;
    for (int a = 0; a < n_arrays; a++)
        arguments[a] = (void *)&sub_kernel->views[a];
    for (int v = n_arrays; v < n_arrays + n_values; v++)
        arguments[v] = sub_kernel->views[v].origin;
    if (pti_sub_kernel_has_pieces(sub_kernel)) {
        copy_pieces(sub_kernel, pieces);
        arguments[n_arrays + n_values] = pieces;
    }
    for (int a = 0; a < n_arrays && variant->n_neighbours > 1; a++)
        arguments[n_arrays + n_values + a] = (void *)&sub_kernel->views[a].origin;
}

/** Launch a grid for each part of the groups of threads, whose threads are its first argument. */
polytile_status pti_cuda_launch_with(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                     const pti_cuda_variant *variant, pti_cuda_extents block) {
    polytile_status status = POLYTILE_OK;
    const polytile_domain groups = pti_cuda_groups_of(sub_kernel->threads, variant->n_neighbours);
    const pti_cuda_grids grids = pti_cuda_grids_of(&groups, block, pti_cuda_most_blocks);
    polytile_domain asked;
    polytile_pieces pieces;
    void *arguments[MAX_ARGUMENTS] = {&asked};
    list_arguments(sub_kernel, variant, &pieces, arguments + 1);
    for (int64_t k = 0; k < grids.n_parts; k++) {
        const polytile_domain part = pti_cuda_grid_box(&groups, &grids, k);
        const polytile_domain members =
            pti_cuda_members_of(sub_kernel->threads, &part, variant->n_neighbours);
        asked = pti_instance_asked_box(sub_kernel->instance, &members);
        PTI_TRY(
            PTI_KERNEL_CUDA(cuda, sub_kernel, cudaLaunchKernel,
                            (variant->kernel, dim3_of(pti_cuda_grid_of(&part, block)),
                             dim3_of(block), arguments, 0, pti_cuda_stream_of(cuda, sub_kernel))));
    }
done:
    return status;
}
