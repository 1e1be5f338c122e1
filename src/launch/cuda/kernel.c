#include "launch/cuda/kernel.h"

#include "launch/cuda/block.h"
#include "launch/cuda/coarse.h"
#include "launch/cuda/function.h"
#include "launch/cuda/rims.h"
#include "launch/cuda/team.h"
#include "launch/cuda/tune.h"
#include "launch/device/launcher.h"

static polytile_status check_cuda_arguments(const pti_cuda_device *cuda,
                                            const pti_sub_kernel *sub_kernel) {
    int n_views = pti_instance_n_arrays(sub_kernel->instance);
    size_t n_bytes = sizeof(polytile_domain) + (size_t)n_views * sizeof(polytile_view) +
                     (size_t)sub_kernel->config.n_values * sizeof(pti_value) +
                     (pti_sub_kernel_has_pieces(sub_kernel) ? sizeof(polytile_pieces) : 0);
    if (n_bytes <= PTI_CUDA_ARGUMENT_BYTES)
        return POLYTILE_OK;
    return pti_fail(pti_cuda_context_of(cuda), POLYTILE_UNSUPPORTED,
                    "%s: the views of %d arrays need %zu bytes of arguments; a CUDA kernel takes "
                    "%d; use a launcher, which has no such limit",
                    sub_kernel->instance->kernel_name, n_views, n_bytes, PTI_CUDA_ARGUMENT_BYTES);
}

static polytile_status launch_part(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel) {
    polytile_status status;
    pti_cuda_choice *choice;
    pti_cuda_extents block;
    PTI_TRY(pti_cuda_choose(cuda, sub_kernel, &choice));
    if (pti_cuda_wants_tuning(cuda, sub_kernel, choice)) {
        PTI_TRY(pti_cuda_tune(cuda, sub_kernel, choice));
        PTI_TRY(pti_cuda_choose(cuda, sub_kernel, &choice));
    }
    const pti_cuda_variant *variant = pti_cuda_variant_for(sub_kernel, choice);
    PTI_TRY(pti_cuda_find_block(cuda, sub_kernel, choice, variant, &block));
    PTI_TRY(pti_cuda_launch_with(cuda, sub_kernel, variant, block));
done:
    return status;
}

static polytile_status launch_kernel(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel) {
    polytile_status status;
    bool is_cut;
    PTI_TRY(check_cuda_arguments(cuda, sub_kernel));
    PTI_TRY(pti_cuda_launch_rims(cuda, sub_kernel, launch_part, &is_cut));
    if (!is_cut)
        PTI_TRY(launch_part(cuda, sub_kernel));
done:
    return status;
}

/** Call a launcher, and find errors of its launches here, not at the library's next call. Clears
 * older errors first. It may leave another device current. */
static polytile_status call_launcher(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel) {
    cuda->api->cudaGetLastError();
    polytile_status status = pti_launcher_call(pti_cuda_context_of(cuda),
                                               sub_kernel->config.implementation->cuda_launcher,
                                               sub_kernel, pti_cuda_stream_of(cuda, sub_kernel));
    cudaError_t enqueued = cuda->api->cudaGetLastError();
    cudaError_t returned = cuda->api->cudaSetDevice(cuda->number);
    PTI_TRY(status);
    PTI_TRY(pti_cuda_check(cuda, enqueued, "what the launcher enqueued (cudaGetLastError)"));
    PTI_TRY(pti_cuda_check(cuda, returned, "cudaSetDevice"));
done:
    return status;
}

polytile_status pti_cuda_launch(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel) {
    if (pti_box_is_empty(sub_kernel->threads))
        return POLYTILE_OK;
    if (sub_kernel->config.part != NULL)
        return pti_cuda_run_team(cuda, sub_kernel);
    return sub_kernel->config.implementation->cuda_launcher != NULL
               ? call_launcher(cuda, sub_kernel)
               : launch_kernel(cuda, sub_kernel);
}
