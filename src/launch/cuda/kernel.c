#include "launch/cuda/kernel.h"

#include "base/checked.h"
#include "launch/cuda/block.h"
#include "launch/cuda/function.h"
#include "launch/cuda/tune.h"
#include "launch/device/launcher.h"

/** What CUDA takes of arguments, on every GPU and by every compiler. */
enum { MAX_ARGUMENT_BYTES = 4096, MAX_ARGUMENTS = MAX_ARGUMENT_BYTES / sizeof(polytile_view) + 1 };

static polytile_context *context_of(const pti_cuda_device *cuda) {
    return cuda->device.object.context;
}

cudaStream_t pti_cuda_stream_of(const pti_cuda_device *cuda, const pti_launch *launch) {
    return cuda->stream[launch->abreast ? PTI_STREAM_ABREAST : PTI_STREAM_COMPUTE];
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
        PTI_TRY(
            PTI_KERNEL_CUDA(cuda, launch, cudaLaunchKernel,
                            (pti_cuda_kernel_for(launch), dim3_of(pti_cuda_grid_of(&part, block)),
                             dim3_of(block), arguments, 0, pti_cuda_stream_of(cuda, launch))));
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

polytile_status pti_cuda_launch_with(pti_cuda_device *cuda, const pti_launch *launch,
                                     pti_cuda_extents block) {
    pti_cuda_parts parts = pti_cuda_parts_of(launch->threads, block, pti_cuda_most_blocks);
    return launch_parts(cuda, launch, block, &parts);
}

static polytile_status launch_kernel(pti_cuda_device *cuda, const pti_launch *launch) {
    polytile_status status;
    pti_cuda_choice *choice;
    pti_cuda_extents block;
    PTI_TRY(check_arguments(cuda, launch));
    PTI_TRY(pti_cuda_choose(cuda, launch, &choice));
    if (pti_cuda_wants_tuning(cuda, launch, choice)) {
        PTI_TRY(pti_cuda_tune(cuda, launch, choice));
        PTI_TRY(pti_cuda_choose(cuda, launch, &choice));
    }
    PTI_TRY(pti_cuda_find_block(cuda, launch, choice, &block));
    PTI_TRY(pti_cuda_launch_with(cuda, launch, block));
done:
    return status;
}

/** An error of one of its launches is found here, and not at the library's next call; one from
 * before is not its own. It may leave another device current. */
static polytile_status call_launcher(pti_cuda_device *cuda, const pti_launch *launch) {
    cuda->api->cudaGetLastError();
    polytile_status status =
        pti_launcher_call(context_of(cuda), launch->implementation->cuda_launcher, launch,
                          pti_cuda_stream_of(cuda, launch));
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
