#include "launch/cuda/kernel.h"

#include "base/checked.h"
#include "launch/cuda/grid.h"
#include "launch/launcher.h"

/** What CUDA takes of arguments, on every GPU and by every compiler. */
enum { MAX_ARGUMENT_BYTES = 4096, MAX_ARGUMENTS = MAX_ARGUMENT_BYTES / sizeof(polytile_view) + 1 };

static polytile_context *context_of(const pti_cuda_device *cuda) {
    return cuda->device.object.context;
}

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

/** As pti_cuda_check() for calls that are about a kernel. */
static polytile_status check_kernel(pti_cuda_device *cuda, const pti_launch *launch,
                                    cudaError_t error, const char *call) {
    for (size_t k = 0; k < sizeof missing_codes / sizeof *missing_codes; k++) {
        if (error != missing_codes[k].error)
            continue;
        cuda->api->cudaGetLastError();
        return pti_fail(context_of(cuda), POLYTILE_UNSUPPORTED,
                        "cuda:%d cannot run the kernel of %s: %s (%s: %s)", cuda->number,
                        launch->instance->kernel_name, missing_codes[k].reason, call,
                        cudaGetErrorName(error));
    }
    return pti_cuda_check(cuda, error, call);
}

#define KERNEL_CUDA(cuda, launch, call, arguments)                                                 \
    check_kernel(cuda, launch, (cuda)->api->call arguments, #call)

static bool is_contiguous(const polytile_view *view, const polytile_view_shape *shape) {
    return view->stride_bytes[shape->n_dims - 1] == shape->element_bytes;
}

/** Which of an implementation's CUDA kernels is for the views of a launch. */
static const void *kernel_for(const pti_launch *launch) {
    const polytile_implementation *implementation = launch->implementation;
    if (implementation->cuda_contiguous == NULL || implementation->views == NULL)
        return implementation->cuda;
    for (int a = 0; a < launch->instance->n_operands; a++) {
        if (!is_contiguous(&launch->views[a], &implementation->views[a]))
            return implementation->cuda;
    }
    return implementation->cuda_contiguous;
}

/** The first number of threads of a block with which the most threads run on the GPU at once. With
 * 128 an H200 starts blocks too slowly to keep its memory busy (docs/ceilings.md). */
static polytile_status choose_threads(pti_cuda_device *cuda, const pti_launch *launch,
                                      int max_threads, int *n_threads) {
    static const int candidates[] = {256, 512, 128, 1024};
    const void *kernel = kernel_for(launch);
    polytile_status status = POLYTILE_OK;
    int most_resident = 0;
    *n_threads = (int)pti_min(candidates[0], max_threads);
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++) {
        int n_blocks = 0;
        if (candidates[k] > max_threads)
            continue;
        PTI_TRY(KERNEL_CUDA(cuda, launch, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                            (&n_blocks, kernel, candidates[k], 0)));
        if (n_blocks * candidates[k] > most_resident) {
            most_resident = n_blocks * candidates[k];
            *n_threads = candidates[k];
        }
    }
done:
    return status;
}

/** Look at a kernel once, and keep what was found. */
static polytile_status look_at_kernel(pti_cuda_device *cuda, const pti_launch *launch) {
    pti_cuda_block_choice choice = {.kernel = kernel_for(launch)};
    struct cudaFuncAttributes attributes;
    polytile_status status = POLYTILE_OK;
    if (cuda->block_choice.kernel == choice.kernel)
        return POLYTILE_OK;
    PTI_TRY(KERNEL_CUDA(cuda, launch, cudaFuncGetAttributes, (&attributes, choice.kernel)));
    choice.max_threads = attributes.maxThreadsPerBlock;
    PTI_TRY(choose_threads(cuda, launch, choice.max_threads, &choice.n_threads));
    cuda->block_choice = choice;
done:
    return status;
}

/** The block that the user asked for, if CUDA and the kernel take it. */
static polytile_status asked_block(pti_cuda_device *cuda, const pti_launch *launch,
                                   pti_cuda_extents *block) {
    *block = pti_cuda_extents_of(launch->threads->n_dims, launch->block);
    int64_t n_threads = pti_cuda_count(*block);
    if (n_threads > cuda->block_choice.max_threads)
        return pti_fail(context_of(cuda), POLYTILE_INVALID,
                        "%s: the block has %lld threads; cuda:%d runs this kernel with at most %d",
                        launch->instance->kernel_name, (long long)n_threads, cuda->number,
                        cuda->block_choice.max_threads);
    if (block->z > pti_cuda_most_threads.z)
        return pti_fail(context_of(cuda), POLYTILE_INVALID,
                        "%s: the block has %lld threads along all indices but the last two; CUDA "
                        "takes at most %lld there",
                        launch->instance->kernel_name, (long long)block->z,
                        (long long)pti_cuda_most_threads.z);
    return POLYTILE_OK;
}

static polytile_status find_block(pti_cuda_device *cuda, const pti_launch *launch,
                                  pti_cuda_extents *block) {
    polytile_status status;
    PTI_TRY(look_at_kernel(cuda, launch));
    if (launch->block != NULL)
        return asked_block(cuda, launch, block);
    *block = pti_cuda_block_for(launch->threads, cuda->block_choice.n_threads);
done:
    return status;
}

static dim3 dim3_of(pti_cuda_extents extents) {
    return (dim3){(unsigned)extents.x, (unsigned)extents.y, (unsigned)extents.z};
}

/** Launch a grid for each part of the threads, which is the kernel's first argument. */
static polytile_status launch_parts(pti_cuda_device *cuda, const pti_launch *launch,
                                    pti_cuda_extents block, const pti_cuda_parts *parts) {
    polytile_status status = POLYTILE_OK;
    polytile_domain part;
    void *arguments[MAX_ARGUMENTS] = {&part};
    for (int a = 0; a < launch->instance->n_operands; a++)
        arguments[1 + a] = (void *)&launch->views[a];
    for (int64_t k = 0; k < parts->n_parts; k++) {
        part = pti_cuda_part(launch->threads, parts, k);
        PTI_TRY(KERNEL_CUDA(cuda, launch, cudaLaunchKernel,
                            (kernel_for(launch), dim3_of(pti_cuda_grid_of(&part, block)),
                             dim3_of(block), arguments, 0, cuda->stream[PTI_STREAM_COMPUTE])));
    }
done:
    return status;
}

static polytile_status check_arguments(const pti_cuda_device *cuda, const pti_launch *launch) {
    int n_views = launch->instance->n_operands;
    size_t n_bytes = sizeof(polytile_domain) + (size_t)n_views * sizeof(polytile_view);
    if (n_bytes <= MAX_ARGUMENT_BYTES)
        return POLYTILE_OK;
    return pti_fail(context_of(cuda), POLYTILE_UNSUPPORTED,
                    "%s: the views of %d arrays need %zu bytes of arguments; a CUDA kernel takes "
                    "%d; use a launcher, which has no such limit",
                    launch->instance->kernel_name, n_views, n_bytes, MAX_ARGUMENT_BYTES);
}

static polytile_status launch_kernel(pti_cuda_device *cuda, const pti_launch *launch) {
    polytile_status status;
    pti_cuda_extents block;
    PTI_TRY(check_arguments(cuda, launch));
    PTI_TRY(find_block(cuda, launch, &block));
    pti_cuda_parts parts = pti_cuda_parts_of(launch->threads, block, pti_cuda_most_blocks);
    PTI_TRY(launch_parts(cuda, launch, block, &parts));
done:
    return status;
}

/** An error of one of its launches is found here, and not at the library's next call; one from
 * before is not its own. It may leave another device current. */
static polytile_status call_launcher(pti_cuda_device *cuda, const pti_launch *launch) {
    cuda->api->cudaGetLastError();
    polytile_status status =
        pti_launcher_call(context_of(cuda), launch->implementation->cuda_launcher, launch,
                          cuda->stream[PTI_STREAM_COMPUTE]);
    cudaError_t enqueued = cuda->api->cudaGetLastError();
    cudaError_t returned = cuda->api->cudaSetDevice(cuda->number);
    PTI_TRY(status);
    PTI_TRY(pti_cuda_check(cuda, enqueued, "what the launcher enqueued (cudaGetLastError)"));
    PTI_TRY(pti_cuda_check(cuda, returned, "cudaSetDevice"));
done:
    return status;
}

polytile_status pti_cuda_launch(pti_cuda_device *cuda, const pti_launch *launch) {
    if (pti_box_is_empty(launch->threads))
        return POLYTILE_OK;
    return launch->implementation->cuda_launcher != NULL ? call_launcher(cuda, launch)
                                                         : launch_kernel(cuda, launch);
}
