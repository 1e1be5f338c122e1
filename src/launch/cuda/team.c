#include "launch/cuda/team.h"

#include "access/set/box.h"
#include "launch/cuda/function.h"
#include "launch/cuda/team_memory.h"
#include "launch/host/team.h"
#include "message/wait.h"

#include <stdlib.h>

/** How many lanes a team has: the most with which all slots are resident. */
static const int lanes[] = {512, 256, 128, 64, 32};

/** Find how many slots of n_lanes lanes are resident at once. */
static polytile_status count_resident(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                      int n_lanes, int64_t *n_resident) {
    const void *kernel = sub_kernel->config.implementation->team->cuda;
    struct cudaFuncAttributes attributes;
    int n_blocks = 0;
    polytile_status status;
    *n_resident = 0;
    PTI_TRY(PTI_KERNEL_CUDA(cuda, sub_kernel, cudaFuncGetAttributes, (&attributes, kernel)));
    if (n_lanes > attributes.maxThreadsPerBlock)
        return POLYTILE_OK;
    PTI_TRY(PTI_KERNEL_CUDA(cuda, sub_kernel, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                            (&n_blocks, kernel, n_lanes, 0)));
    *n_resident = (int64_t)n_blocks * cuda->n_multiprocessors;
done:
    return status;
}

static polytile_status choose_lanes(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                    int64_t n_slots, int *n_lanes) {
    int64_t n_resident = 0, n_most = 0;
    polytile_status status = POLYTILE_OK;
    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
        PTI_TRY(count_resident(cuda, sub_kernel, lanes[k], &n_resident));
        *n_lanes = lanes[k];
        if (n_slots <= n_resident)
            return POLYTILE_OK;
        n_most = n_resident > n_most ? n_resident : n_most;
    }
    status = pti_fail(pti_cuda_context_of(cuda), POLYTILE_NO_FIT,
                      "%s: %lld slots, and cuda:%d holds %lld at once; launch fewer, each of which "
                      "does more",
                      sub_kernel->instance->kernel_name, (long long)n_slots, cuda->number,
                      (long long)n_most);
done:
    return status;
}

/** Launch the kernel, whose arguments are the slots, the threads, the views and the values. */
static polytile_status launch_slots(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                    pti_cuda_team *team, int n_slots, int n_lanes) {
    const int n_arrays = pti_instance_n_arrays(sub_kernel->instance),
              n_values = sub_kernel->config.n_values;
    const dim3 grid = {(unsigned)n_slots, 1, 1}, block = {(unsigned)n_lanes, 1, 1};
    const cudaStream_t stream = pti_cuda_stream_of(cuda, sub_kernel);
    polytile_domain asked = pti_instance_asked_box(sub_kernel->instance, sub_kernel->threads);
    void *slots = pti_server_get_slot(sub_kernel->config.part, 0);
    polytile_status status = POLYTILE_OK;
    void **arguments = calloc((size_t)(2 + n_arrays + n_values), sizeof *arguments);
    if (arguments == NULL)
        return pti_fail_memory(pti_cuda_context_of(cuda), sub_kernel->instance->kernel_name,
                               (double)(2 + n_arrays + n_values) * sizeof *arguments);
    arguments[0] = (void *)&slots;
    arguments[1] = &asked;
    for (int v = 0; v < n_arrays + n_values; v++)
        arguments[2 + v] =
            v < n_arrays ? (void *)(uintptr_t)&sub_kernel->views[v] : sub_kernel->views[v].origin;
    PTI_TRY(PTI_KERNEL_CUDA(
        cuda, sub_kernel, cudaLaunchCooperativeKernel,
        (sub_kernel->config.implementation->team->cuda, grid, block, arguments, 0, stream)));
    PTI_TRY(PTI_CUDA(cuda, cudaEventRecord, (team->ended, stream)));
done:
    free(arguments);
    return status;
}

/** Tell all slots of a failure, and wait until they are over: those here may still put to other
 * devices, and those there to this one. Returns it. */
static polytile_status abandon_slots(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                     polytile_status status) {
    pti_server_part *part = sub_kernel->config.part;
    pti_error why = {0};
    pti_error_keep(&why, pti_cuda_context_of(cuda), status);
    pti_server_fail(pti_server_of_part(part), status, why.cause);
    cuda->api->cudaStreamSynchronize(pti_cuda_stream_of(cuda, sub_kernel));
    pti_server_abandon(part, &why);
    pti_server_finish(part, pti_cuda_context_of(cuda));
    return pti_error_restore(pti_cuda_context_of(cuda), &why);
}

/** Launch the slots, and serve them. */
static polytile_status run_slots(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                 pti_cuda_team *team, int n_slots, int n_lanes) {
    pti_server_part *part = sub_kernel->config.part;
    polytile_status status = launch_slots(cuda, sub_kernel, team, n_slots, n_lanes);
    if (status != POLYTILE_OK)
        return abandon_slots(cuda, sub_kernel, status);
    pti_server_attend(part);
    return team->why_ended == cudaSuccess
               ? pti_server_finish(part, pti_cuda_context_of(cuda))
               : abandon_slots(cuda, sub_kernel,
                               pti_cuda_check(cuda, team->why_ended, "cudaEventQuery"));
}

/** Wait until the arrays are on the device: as soon as all parts have begun, slots of other devices
 * put to them, which no upload may come after. */
static polytile_status await_arrays(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                    const pti_server_part *part) {
    if (pti_server_part_n_slots(part) == pti_box_count(pti_server_part_threads(part)))
        return POLYTILE_OK;
    return PTI_KERNEL_CUDA(cuda, sub_kernel, cudaStreamSynchronize,
                           (pti_cuda_stream_of(cuda, sub_kernel)));
}

static polytile_status serve_slots(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                   pt_memory *memories, int n_slots) {
    const pti_instance *instance = sub_kernel->instance;
    pti_server_part *part = sub_kernel->config.part;
    polytile_context *ctx = pti_cuda_context_of(cuda);
    const pti_server_bytes bytes = pti_server_count_bytes(part, instance->n_operands);
    pti_cuda_team *team;
    int n_lanes = 0;
    polytile_status status;
    PTI_TRY(choose_lanes(cuda, sub_kernel, n_slots, &n_lanes));
    PTI_TRY(pti_cuda_team_reserve(cuda, instance->kernel_name, bytes, &team));
    pti_team_find_memories(sub_kernel, memories);
    PTI_TRY(await_arrays(cuda, sub_kernel, part));
    PTI_TRY(pti_server_begin(part, ctx, memories, sub_kernel->views, instance->n_operands,
                             &team->slots));
    PTI_TRY(pti_server_meet(part, ctx));
    status = run_slots(cuda, sub_kernel, team, n_slots, n_lanes);
done:
    return status;
}

polytile_status pti_cuda_run_team(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel) {
    const size_t n_operands = (size_t)sub_kernel->instance->n_operands;
    pt_memory *memories = calloc(n_operands, sizeof *memories);
    if (memories == NULL)
        return pti_fail_memory(pti_cuda_context_of(cuda), sub_kernel->instance->kernel_name,
                               (double)n_operands * sizeof *memories);
    const polytile_status status =
        serve_slots(cuda, sub_kernel, memories, pti_server_part_n_slots(sub_kernel->config.part));
    free(memories);
    return status;
}
