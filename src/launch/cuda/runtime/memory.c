#include "launch/cuda/runtime/cuda.h"

#include "base/checked.h"
#include <polytile/size.h>

/** Left free if others hold memory: CUDA loads kernels, and allocates in units of 2 MiB. */
enum { SPARE_BYTES = 64 * 1024 * 1024, MAX_SPARE_PART = 8 };

/** Atomics on small elements work on whole words, also around the arena's last element. */
enum { WORD_BYTES = 16 };

polytile_status pti_cuda_free_bytes(pti_cuda_device *cuda, int64_t *free_bytes) {
    size_t free_now = 0, total = 0;
    polytile_status status = PTI_CUDA(cuda, cudaMemGetInfo, (&free_now, &total));
    *free_bytes = (int64_t)free_now;
    return status;
}

/** What this device holds already counts as free for it. */
polytile_status pti_cuda_usable(polytile_device *device, int64_t *usable_bytes) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    polytile_status status;
    int64_t free_bytes;
    *usable_bytes = device->limit_bytes;
    if (cuda->arena_bytes >= device->limit_bytes)
        return POLYTILE_OK;
    PTI_TRY(pti_cuda_enter(cuda));
    PTI_TRY(pti_cuda_free_bytes(cuda, &free_bytes));
    *usable_bytes = pti_min(device->limit_bytes, pti_max(cuda->arena_bytes + free_bytes, 1));
    if (*usable_bytes < device->limit_bytes)
        *usable_bytes -= pti_min(SPARE_BYTES, *usable_bytes / MAX_SPARE_PART);
done:
    return status;
}

static polytile_status refuse_limit(const pti_cuda_device *cuda, int64_t need_bytes) {
    char need[32], limit[32];
    return pti_fail(cuda->device.object.context, POLYTILE_NO_FIT,
                    "cuda:%d: the plan needs %s of device memory, the device is limited to %s; "
                    "plan with that limit",
                    cuda->number, polytile_size_format(need_bytes, need),
                    polytile_size_format(cuda->device.limit_bytes, limit));
}

/** Fail with NO_FIT. CUDA may refuse what is free, if it is fragmented, say. */
static polytile_status fail_no_fit(pti_cuda_device *cuda, int64_t need_bytes) {
    char need[32], free_text[32];
    int64_t free_bytes = 0;
    if (pti_cuda_free_bytes(cuda, &free_bytes) != POLYTILE_OK)
        return POLYTILE_DEVICE;
    polytile_size_format(need_bytes, need);
    polytile_size_format(free_bytes, free_text);
    if (free_bytes >= need_bytes)
        return pti_fail(cuda->device.object.context, POLYTILE_NO_FIT,
                        "cuda:%d: CUDA refuses the %s of device memory that the plan needs, "
                        "although %s are free (perhaps not in one piece); plan with a smaller "
                        "limit",
                        cuda->number, need, free_text);
    return pti_fail(cuda->device.object.context, POLYTILE_NO_FIT,
                    "cuda:%d: the plan needs %s of device memory and %s are free (other programs "
                    "may hold the rest); plan with a smaller limit",
                    cuda->number, need, free_text);
}

static polytile_status release_arena(pti_cuda_device *cuda) {
    void *arena = cuda->arena;
    cuda->arena = NULL;
    cuda->arena_bytes = 0;
    return arena == NULL ? POLYTILE_OK : PTI_CUDA(cuda, cudaFree, (arena));
}

/** Allocate the arena; false if there is not as much. */
static bool allocate_arena(pti_cuda_device *cuda, int64_t n_bytes, polytile_status *status) {
    int64_t whole_bytes = pti_ceil_div(n_bytes, WORD_BYTES) * WORD_BYTES;
    cudaError_t error = cuda->api->cudaMalloc(&cuda->arena, (size_t)whole_bytes);
    bool is_short = error == cudaErrorMemoryAllocation;
    if (is_short)
        cuda->api->cudaGetLastError();
    *status = is_short ? POLYTILE_OK : pti_cuda_check(cuda, error, "cudaMalloc");
    cuda->arena_bytes = error == cudaSuccess ? n_bytes : 0;
    return !is_short;
}

/** With memory= the arena is all of the limit, allocated once; without it, what the largest run so
 * far needed. */
polytile_status pti_cuda_reserve(polytile_device *device, int64_t arena_bytes, void **arena) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    polytile_status status;
    PTI_TRY(pti_cuda_enter(cuda));
    if (arena_bytes > device->limit_bytes)
        return refuse_limit(cuda, arena_bytes);
    if (arena_bytes > cuda->arena_bytes) {
        int64_t wanted_bytes = cuda->memory_bytes > 0 ? device->limit_bytes : arena_bytes;
        PTI_TRY(release_arena(cuda));
        bool taken = allocate_arena(cuda, wanted_bytes, &status) ||
                     (wanted_bytes > arena_bytes && allocate_arena(cuda, arena_bytes, &status));
        if (!taken)
            return fail_no_fit(cuda, arena_bytes);
        PTI_TRY(status);
    }
    *arena = cuda->arena;
done:
    return status;
}
