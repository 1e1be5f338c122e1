#include "launch/cuda/cuda.h"

#include "launch/cuda/fault.h"
#include "launch/execution.h"

#include <stdio.h>

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

static polytile_status refuse_faulted(pti_cuda_device *cuda, const pti_cuda_fault *fault) {
    return pti_fail(cuda->device.object.context, POLYTILE_DEVICE,
                    "cuda:%d cannot be used any more in this process, since a run on it faulted "
                    "(%s); other devices can",
                    cuda->number, fault->text);
}

/** Remember what fail() has just told as the GPU's fault, unless one is known, which it tells then. */
static polytile_status remember(pti_cuda_device *cuda) {
    polytile_context *ctx = cuda->device.object.context;
    pti_cuda_fault fault = {.api = cuda->api, .number = cuda->number, .n_gpus = cuda->n_gpus};
    if (pti_cuda_fault_find(cuda->api, cuda->number, &fault))
        return refuse_faulted(cuda, &fault);
    snprintf(fault.text, sizeof fault.text, "%s", polytile_last_error(ctx));
    pti_cuda_fault_add(&fault);
    return POLYTILE_DEVICE;
}

polytile_status pti_cuda_check(pti_cuda_device *cuda, cudaError_t error, const char *call) {
    if (error == cudaSuccess)
        return POLYTILE_OK;
    polytile_status status = fail(cuda, error, call);
    return is_repeated(cuda) ? remember(cuda) : status;
}

/** An error of cudaSetDevice may be another GPU's, the one that was current: it is no fault. */
polytile_status pti_cuda_enter(pti_cuda_device *cuda) {
    pti_cuda_fault fault;
    if (pti_cuda_fault_find(cuda->api, cuda->number, &fault))
        return refuse_faulted(cuda, &fault);
    cudaError_t error = cuda->api->cudaSetDevice(cuda->number);
    if (error == cudaSuccess)
        return POLYTILE_OK;
    cuda->api->cudaGetLastError();
    return fail(cuda, error, "cudaSetDevice");
}
