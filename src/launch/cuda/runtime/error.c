#include "launch/cuda/runtime/cuda.h"

#include "launch/cuda/runtime/fault.h"
#include "launch/device/execution.h"

#include <stdio.h>

/** Write "upload of x, superblock 3 of 12"; of a schedule that only moves "download of x". */
static void describe_op(const pti_execution *run, const pti_command *command, pti_text *text) {
    const pti_schedule *schedule = run->schedule;
    const bool is_alone = schedule->n_launches == 1;
    const pti_schedule_launch *launch = pti_schedule_launch_of(schedule, command->op);
    const char *subject = command->operand < 0 ? launch->call.instance->kernel_name
                                               : schedule->instance->operand[command->operand].name;
    pti_text_add(text, "%s of %s", pti_op_word(command->op->kind), subject);
    if (launch != NULL)
        pti_text_add(text, ", superblock %lld of %lld",
                     (long long)(run->first_superblock + command->op->superblock -
                                 launch->first_superblock) +
                         1,
                     (long long)(is_alone ? run->n_kernels : launch->n_superblocks));
}

/** Describe the current command; write nothing between commands. */
static void describe_command(const pti_cuda_device *cuda, const char *before, const char *after,
                             pti_text *text) {
    if (cuda->command == NULL)
        return;
    pti_text_add(text, "%s", before);
    describe_op(cuda->execution, cuda->command, text);
    pti_text_add(text, "%s", after);
}

/** Return whether CUDA repeats an error at every call, since it has ended the context. Clears any
 * other error. */
static bool is_repeated(const pti_cuda_device *cuda) {
    cuda->api->cudaGetLastError();
    size_t free_bytes, total_bytes;
    return cuda->api->cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess &&
           cuda->api->cudaGetLastError() != cudaSuccess;
}

static const char *text_or_empty(const pti_text *text) {
    return text->failed || text->data == NULL ? "" : text->data;
}

static polytile_status fail_call(pti_cuda_device *cuda, cudaError_t error, const char *call) {
    pti_text what = {0};
    describe_command(cuda, "", ": ", &what);
    polytile_status status = pti_fail(
        cuda->device.object.context, POLYTILE_DEVICE, "cuda:%d: %s%s failed: %s (%s)", cuda->number,
        text_or_empty(&what), call, cudaGetErrorString(error), cudaGetErrorName(error));
    pti_text_free(&what);
    return status;
}

/** Return whether an error is a kernel's fault, which any later call finds; others, as of memory,
 * may be of any cause. */
static bool is_of_kernels(cudaError_t error) {
    static const cudaError_t faults[] = {
        cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,      cudaErrorAssert,
        cudaErrorHardwareStackError,  cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,          cudaErrorLaunchFailure};
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        if (error == faults[k])
            return true;
    }
    return false;
}

/** Write "a sub-kernel of jacobi faulted (why), found by cudaEventQuery at the upload of x,
 * superblock 3 of 9". */
static void describe_fault(const pti_cuda_device *cuda, cudaError_t error, const char *call,
                           pti_text *text) {
    const char *kernel_name =
        cuda->execution == NULL ? NULL : cuda->execution->schedule->instance->kernel_name;
    if (kernel_name == NULL)
        pti_text_add(text, "what ran on it before");
    else
        pti_text_add(text, "%s of %s", is_of_kernels(error) ? "a sub-kernel" : "the run",
                     kernel_name);
    pti_text_add(text, " faulted (%s, %s), found by %s", cudaGetErrorString(error),
                 cudaGetErrorName(error), call);
    describe_command(cuda, " at the ", "", text);
}

static polytile_status refuse_faulted(pti_cuda_device *cuda, const pti_cuda_fault *fault) {
    return pti_fail(cuda->device.object.context, POLYTILE_DEVICE,
                    "cuda:%d cannot be used any more in this process, since a run on it faulted "
                    "(%s); other devices can",
                    cuda->number, fault->text);
}

/** Report the GPU's fault, and remember it if it is the first. */
static polytile_status report_fault(pti_cuda_device *cuda, cudaError_t error, const char *call) {
    pti_cuda_fault fault = {.api = cuda->api, .number = cuda->number, .n_gpus = cuda->n_gpus};
    pti_text what = {0};
    if (pti_cuda_fault_find(cuda->api, cuda->number, &fault))
        return refuse_faulted(cuda, &fault);
    describe_fault(cuda, error, call, &what);
    snprintf(fault.text, sizeof fault.text, "cuda:%d: %s", cuda->number, text_or_empty(&what));
    pti_text_free(&what);
    pti_cuda_fault_add(&fault);
    return pti_fail(cuda->device.object.context, POLYTILE_DEVICE, "%s", fault.text);
}

polytile_status pti_cuda_check(pti_cuda_device *cuda, cudaError_t error, const char *call) {
    if (error == cudaSuccess)
        return POLYTILE_OK;
    return is_repeated(cuda) ? report_fault(cuda, error, call) : fail_call(cuda, error, call);
}

/** CUDA keeps "not ready" as its last error, which a kernel's launch would find; so it is
 * cleared. */
polytile_status pti_cuda_is_done(pti_cuda_device *cuda, cudaEvent_t event, bool *is_done) {
    cudaError_t error = cuda->api->cudaEventQuery(event);
    *is_done = error == cudaSuccess;
    if (error != cudaErrorNotReady)
        return pti_cuda_check(cuda, error, "cudaEventQuery");
    cuda->api->cudaGetLastError();
    return POLYTILE_OK;
}

/** An error of cudaSetDevice may be another GPU's, which was current: it is no fault. */
polytile_status pti_cuda_enter(pti_cuda_device *cuda) {
    pti_cuda_fault fault;
    if (pti_cuda_fault_find(cuda->api, cuda->number, &fault))
        return refuse_faulted(cuda, &fault);
    cudaError_t error = cuda->api->cudaSetDevice(cuda->number);
    if (error == cudaSuccess)
        return POLYTILE_OK;
    cuda->api->cudaGetLastError();
    return fail_call(cuda, error, "cudaSetDevice");
}
