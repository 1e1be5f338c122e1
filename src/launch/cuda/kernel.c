#include "launch/cuda/kernel.h"

#include "launch/cuda/block.h"
#include "launch/cuda/coarse.h"
#include "launch/cuda/function.h"
#include "launch/cuda/rims.h"
#include "launch/cuda/team.h"
#include "launch/cuda/tune.h"
#include "launch/device/launcher.h"

static polytile_status check_cuda_arguments(const pti_cuda_device *cuda,
                                            const pti_sub_kernel *launch) {
    int n_views = pti_instance_n_arrays(launch->instance);
    size_t n_bytes = sizeof(polytile_domain) + (size_t)n_views * sizeof(polytile_view) +
                     (size_t)launch->config.n_values * sizeof(pti_value) +
                     (pti_sub_kernel_has_pieces(launch) ? sizeof(polytile_pieces) : 0);
    if (n_bytes <= PTI_CUDA_ARGUMENT_BYTES)
        return POLYTILE_OK;
    return pti_fail(pti_cuda_context_of(cuda), POLYTILE_UNSUPPORTED,
                    "%s: the views of %d arrays need %zu bytes of arguments; a CUDA kernel takes "
                    "%d; use a launcher, which has no such limit",
                    launch->instance->kernel_name, n_views, n_bytes, PTI_CUDA_ARGUMENT_BYTES);
}

static polytile_status launch_part(pti_cuda_device *cuda, const pti_sub_kernel *launch) {
    polytile_status status;
    pti_cuda_choice *choice;
    pti_cuda_extents block;
    PTI_TRY(pti_cuda_choose(cuda, launch, &choice));
    if (pti_cuda_wants_tuning(cuda, launch, choice)) {
        PTI_TRY(pti_cuda_tune(cuda, launch, choice));
        PTI_TRY(pti_cuda_choose(cuda, launch, &choice));
    }
    const pti_cuda_variant *variant = pti_cuda_variant_for(launch, choice);
    PTI_TRY(pti_cuda_find_block(cuda, launch, choice, variant, &block));
    PTI_TRY(pti_cuda_launch_with(cuda, launch, variant, block));
done:
    return status;
}

static polytile_status launch_kernel(pti_cuda_device *cuda, const pti_sub_kernel *launch) {
    polytile_status status;
    bool is_cut;
    PTI_TRY(check_cuda_arguments(cuda, launch));
    PTI_TRY(pti_cuda_launch_rims(cuda, launch, launch_part, &is_cut));
    if (!is_cut)
        PTI_TRY(launch_part(cuda, launch));
done:
    return status;
}

/** Call a launcher, and find errors of its launches here, not at the library's next call. Clears
 * older errors first. It may leave another device current. */
static polytile_status call_launcher(pti_cuda_device *cuda, const pti_sub_kernel *launch) {
    cuda->api->cudaGetLastError();
    polytile_status status =
        pti_launcher_call(pti_cuda_context_of(cuda), launch->config.implementation->cuda_launcher,
                          launch, pti_cuda_stream_of(cuda, launch));
    cudaError_t enqueued = cuda->api->cudaGetLastError();
    cudaError_t returned = cuda->api->cudaSetDevice(cuda->number);
    PTI_TRY(status);
    PTI_TRY(pti_cuda_check(cuda, enqueued, "what the launcher enqueued (cudaGetLastError)"));
    PTI_TRY(pti_cuda_check(cuda, returned, "cudaSetDevice"));
done:
    return status;
}

polytile_status pti_cuda_launch(pti_cuda_device *cuda, const pti_sub_kernel *launch) {
    if (pti_box_is_empty(launch->threads))
        return POLYTILE_OK;
    if (launch->config.part != NULL)
        return pti_cuda_run_team(cuda, launch);
    return launch->config.implementation->cuda_launcher != NULL ? call_launcher(cuda, launch)
                                                                : launch_kernel(cuda, launch);
}
