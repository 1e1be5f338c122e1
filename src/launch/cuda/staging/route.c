#include "launch/cuda/staging/route.h"

#include "access/array/array.h"
#include "launch/cuda/staging/registrations.h"
#include "launch/cuda/staging/staging.h"
#include "launch/device/execution.h"
#include <polytile/size.h>

#include <math.h>

/** The rate of one thread from pageable memory into a ring in the cache, or out of it: 8 threads
 * together reach 83 and 169 GB/s (docs/ceilings.md). */
static const double stage_bytes_per_thread_s = 10e9;

/** The cost of pinning and unpinning memory: 25 and 11 ms/GiB (docs/ceilings.md). */
static const double register_s_per_byte = 36e-3 / (1024.0 * 1024.0 * 1024.0);

/** Shorter runs are packed: the copy engines move rows of 8 bytes at 5 GB/s, of 32 at 25, and of 64
 * at 43 (docs/ceilings.md). */
enum { SHORT_RUN_BYTES = 64 };

/** From this many bytes on packing is worth the threads' latency. */
enum { PACKED_BYTES = 64 * 1024 };

/** The bytes of an array that a schedule moves each way. */
typedef struct traffic {
    double up_bytes;
    double down_bytes;
} traffic;

static traffic traffic_of(const pti_schedule *schedule, int operand) {
    traffic sum = {0, 0};
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        bool is_upload = op->kind == PTI_UPLOAD, is_download = op->kind == PTI_DOWNLOAD;
        if ((is_upload || is_download) && schedule->placement[op->placement].operand == operand)
            *(is_upload ? &sum.up_bytes : &sum.down_bytes) +=
                (double)op->bytes * (double)pti_schedule_times(schedule, k);
    }
    return sum;
}

/** Return the seconds to move an array's bytes if host threads limit the rate. */
static double moving_s(const pti_cuda_device *cuda, traffic bytes, double limit_bytes_per_s) {
    const polytile_link *link = &cuda->device.link;
    return bytes.up_bytes / fmin(limit_bytes_per_s, link->upload_bytes_per_s) +
           bytes.down_bytes / fmin(limit_bytes_per_s, link->download_bytes_per_s);
}

static bool pinning_pays(const pti_cuda_device *cuda, const pti_schedule *schedule, int operand,
                         const polytile_array *array) {
    traffic bytes = traffic_of(schedule, operand);
    double staged_s = moving_s(cuda, bytes, cuda->n_host_threads * stage_bytes_per_thread_s);
    double direct_s = moving_s(cuda, bytes, INFINITY);
    return staged_s > direct_s + register_s_per_byte * (double)pti_array_span_bytes(array);
}

static polytile_status fail_not_host_memory(const pti_cuda_device *cuda,
                                            const polytile_array *array, const char *memory) {
    return pti_fail(cuda->device.object.context, POLYTILE_INVALID,
                    "array %s lies in %s; polytile moves arrays itself: give host memory",
                    array->name, memory);
}

static polytile_status look_at_host_memory(pti_cuda_device *cuda, const polytile_array *array,
                                           pti_cuda_host_memory *kind) {
    pti_registration found;
    enum cudaMemoryType first, last;
    polytile_status status;
    PTI_TRY(pti_registrations_look(cuda, array->data, pti_array_span_bytes(array), &found, &first,
                                   &last));
    if (first == cudaMemoryTypeDevice || last == cudaMemoryTypeDevice)
        return fail_not_host_memory(cuda, array, "device memory");
    if (first == cudaMemoryTypeManaged || last == cudaMemoryTypeManaged)
        return fail_not_host_memory(cuda, array, "managed memory");
    if (found == PTI_REGISTRATION_SHARED)
        *kind = PTI_CUDA_REGISTERED;
    else if (first == cudaMemoryTypeHost && last == cudaMemoryTypeHost)
        *kind = PTI_CUDA_PINNED;
done:
    return status;
}

/** Check that a byte is in the memory of this GPU. */
static polytile_status check_own_byte(pti_cuda_device *cuda, const polytile_array *array,
                                      const char *byte) {
    struct cudaPointerAttributes found = {.type = cudaMemoryTypeUnregistered};
    polytile_status status = PTI_CUDA(cuda, cudaPointerGetAttributes, (&found, byte));
    if (status != POLYTILE_OK ||
        (found.type == cudaMemoryTypeDevice && found.device == cuda->number))
        return status;
    if (found.type == cudaMemoryTypeDevice)
        return pti_fail(cuda->device.object.context, POLYTILE_INVALID,
                        "array %s lies in the memory of cuda:%d; run on that device, or copy it to "
                        "cuda:%d",
                        array->name, found.device, cuda->number);
    return pti_fail(cuda->device.object.context, POLYTILE_INVALID,
                    "array %s was wrapped as memory of a GPU, and %s%p is none of cuda:%d's; give "
                    "what cudaMalloc() returned, with its extents and strides",
                    array->name, byte == array->device_data ? "" : "its end at ",
                    (const void *)byte, cuda->number);
}

/** Check an array that is used in place, and wait for what writes it. */
static polytile_status await_own_memory(pti_cuda_device *cuda, const polytile_array *array) {
    const char *first = array->device_data;
    polytile_status status;
    PTI_TRY(check_own_byte(cuda, array, first));
    PTI_TRY(check_own_byte(cuda, array, first + pti_array_span_bytes(array) - 1));
    PTI_TRY(PTI_CUDA(cuda, cudaStreamSynchronize, ((cudaStream_t)array->stream)));
done:
    return status;
}

/** Look where an array lies. */
static polytile_status look_at_array(pti_cuda_device *cuda, const polytile_array *array,
                                     pti_cuda_host_memory *kind) {
    if (pti_array_is_on_gpu(array))
        return await_own_memory(cuda, array);
    return array->data == NULL ? POLYTILE_OK : look_at_host_memory(cuda, array, kind);
}

static void try_to_pin(pti_cuda_device *cuda, const polytile_array *array,
                       pti_cuda_host_memory *kind) {
    char size[32];
    const char *why_not = pti_registrations_take(cuda, array->data, pti_array_span_bytes(array));
    if (why_not == NULL)
        *kind = PTI_CUDA_REGISTERED;
    else
        pti_log(cuda->device.object.context, PTI_LOG_INFO,
                "cuda:%d: array %s (%s) cannot be pinned (%s) and goes through buffers",
                cuda->number, array->name, polytile_size_format(array->n_bytes, size), why_not);
}

polytile_status pti_cuda_routes_begin(pti_cuda_device *cuda, const pti_schedule *schedule,
                                      polytile_array *const *arrays, pti_cuda_host_memory *kinds) {
    int n_operands = schedule->instance->n_operands;
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < n_operands; a++)
        kinds[a] = PTI_CUDA_PAGEABLE;
    for (int a = 0; a < n_operands; a++)
        PTI_TRY(look_at_array(cuda, arrays[a], &kinds[a]));
    for (int a = 0; a < n_operands; a++) {
        const polytile_array *array = arrays[a];
        if (kinds[a] == PTI_CUDA_PAGEABLE && array->data != NULL && array->mapping == NULL &&
            pinning_pays(cuda, schedule, a, array))
            try_to_pin(cuda, array, &kinds[a]);
    }
done:
    return status;
}

polytile_status pti_cuda_routes_end(pti_cuda_device *cuda, const pti_schedule *schedule,
                                    polytile_array *const *arrays, pti_cuda_host_memory *kinds) {
    polytile_context *ctx = cuda->device.object.context;
    pti_error first = {0};
    for (int a = 0; a < schedule->instance->n_operands; a++) {
        if (kinds[a] != PTI_CUDA_REGISTERED)
            continue;
        kinds[a] = PTI_CUDA_PAGEABLE;
        pti_error_keep(&first, ctx, pti_registrations_give_back(cuda, arrays[a]->data));
    }
    return pti_error_restore(ctx, &first);
}

/** Return a transfer's side in host memory; NULL for other commands. */
static const pti_memory_span *host_side(const pti_command *command) {
    switch (command->op->kind) {
    case PTI_UPLOAD:
        return &command->move.from;
    case PTI_DOWNLOAD:
        return &command->move.to;
    default:
        return NULL;
    }
}

bool pti_cuda_is_staged(const pti_command *command, const pti_cuda_host_memory *kinds) {
    const pti_memory_span *host = host_side(command);
    const pti_move *move = &command->move;
    if (host == NULL || move->element_bytes > PTI_STAGING_BUFFER_BYTES)
        return false;
    if (kinds[command->operand] == PTI_CUDA_PAGEABLE)
        return true;
    return command->op->bytes >= PACKED_BYTES &&
           pti_memory_layout_run_bytes(host->layout, move->box, move->element_bytes) <
               SHORT_RUN_BYTES;
}
