#include "launch/cuda/cuda.h"

#include "launch/execution.h"

#include <stdlib.h>
#include <string.h>

/** "upload of x for superblock 3 of 12: ", or nothing between commands. */
static void describe_command(const pti_cuda_device *cuda, pti_text *text) {
    const pti_command *command = cuda->command;
    if (command == NULL)
        return;
    const pti_schedule *schedule = cuda->execution->schedule;
    const char *subject = command->operand < 0 ? schedule->instance->kernel_name
                                               : schedule->instance->operand[command->operand].name;
    pti_text_add(text, "%s of %s, superblock %lld of %lld: ", pti_op_word(command->op->kind),
                 subject, (long long)command->op->superblock + 1,
                 (long long)schedule->n_superblocks);
}

/** An error that CUDA repeats at every call has ended the context; the calls of this function clear
 * any other. */
static bool is_repeated(const pti_cuda_device *cuda) {
    cuda->api->cudaGetLastError();
    size_t free_bytes, total_bytes;
    return cuda->api->cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess &&
           cuda->api->cudaGetLastError() != cudaSuccess;
}

static polytile_status fail(pti_cuda_device *cuda, cudaError_t error, const char *call) {
    pti_text what = {0};
    describe_command(cuda, &what);
    polytile_status status =
        pti_fail(cuda->device.object.context, POLYTILE_DEVICE, "cuda:%d: %s%s failed: %s (%s)",
                 cuda->number, what.failed || what.data == NULL ? "" : what.data, call,
                 cudaGetErrorString(error), cudaGetErrorName(error));
    pti_text_free(&what);
    return status;
}

polytile_status pti_cuda_check(pti_cuda_device *cuda, cudaError_t error, const char *call) {
    if (error == cudaSuccess)
        return POLYTILE_OK;
    polytile_status status = fail(cuda, error, call);
    if (cuda->fault == NULL && is_repeated(cuda))
        cuda->fault = strdup(polytile_last_error(cuda->device.object.context));
    return status;
}

polytile_status pti_cuda_enter(pti_cuda_device *cuda) {
    if (cuda->fault != NULL)
        return pti_fail(cuda->device.object.context, POLYTILE_DEVICE,
                        "cuda:%d cannot be used any more in this process, since a run on it "
                        "faulted (%s); other devices can",
                        cuda->number, cuda->fault);
    return PTI_CUDA(cuda, cudaSetDevice, (cuda->number));
}
