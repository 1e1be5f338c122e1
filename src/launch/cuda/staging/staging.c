#include "launch/cuda/runtime/fault.h"
#include "launch/cuda/staging/staging_state.h"

#include "base/checked.h"
#include <polytile/size.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { HUGE_PAGE_BYTES = 2 * 1024 * 1024, PAGE_BYTES = 4096 };

/** Touch every page with all threads, before one thread pins them. task: one a huge page. */
static void touch_pages(const pti_staging *staging, pti_copy_task *task) {
    char zero = 0;
    const int64_t n_pages = HUGE_PAGE_BYTES / PAGE_BYTES;
    polytile_domain pages = polytile_domain_from_extents(1, &n_pages);
    pti_memory_layout page_starts = {.hull = pages, .stride_bytes = {PAGE_BYTES}};
    pti_memory_layout everywhere = {.hull = pages};
    for (int64_t k = 0; k < staging->memory_bytes / HUGE_PAGE_BYTES; k++) {
        char *begin = staging->memory + k * HUGE_PAGE_BYTES;
        task[k] = (pti_copy_task){.move = {&pages, 1, {begin, &page_starts}, {&zero, &everywhere}},
                                  .keeps_cache = true};
        pti_copiers_submit(staging->copiers, &task[k]);
    }
    pti_copiers_wait(staging->copiers);
}

/** Fail with what CUDA says of the smallest rings, and what usually limits locked memory. */
static polytile_status refuse_to_pin(const pti_staging *staging, int64_t n_bytes,
                                     cudaError_t error) {
    char size[32], limit_text[32] = "unlimited";
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur != RLIM_INFINITY)
        polytile_size_format((int64_t)limit.rlim_cur, limit_text);
    return pti_fail(staging->cuda->device.object.context, POLYTILE_DEVICE,
                    "cuda:%d: buffers of %s for transfers of pageable memory cannot be pinned "
                    "(cudaHostRegister failed: %s); the limit on locked memory (ulimit -l) is %s: "
                    "raise it, or give arrays in pinned memory",
                    staging->cuda->number, polytile_size_format(n_bytes, size),
                    cudaGetErrorString(error), limit_text);
}

/** Pin the first part of the memory, for as many buffers as possible. */
static polytile_status pin_buffers(pti_staging *staging) {
    pti_cuda_device *cuda = staging->cuda;
    cudaError_t error = cudaSuccess;
    int64_t n_bytes = 0;
    for (int n = PTI_RING_BUFFERS; n >= PTI_FEWEST_RING_BUFFERS; n /= 2) {
        n_bytes = 2 * n * staging->buffer_bytes;
        error =
            cuda->api->cudaHostRegister(staging->memory, (size_t)n_bytes, cudaHostRegisterDefault);
        staging->n_buffers = n;
        staging->is_pinned = error == cudaSuccess;
        if (staging->is_pinned)
            return POLYTILE_OK;
        cuda->api->cudaGetLastError();
    }
    pti_cuda_fault fault;
    polytile_status status = pti_cuda_check(cuda, error, "cudaHostRegister");
    return pti_cuda_fault_find(cuda->api, cuda->number, &fault)
               ? status
               : refuse_to_pin(staging, n_bytes, error);
}

/** Allocate the rings' memory, without huge pages: on some machines copies to huge pages that are
 * pinned stall where several GPUs copy at once, and small ones cost nothing that was measured
 * (docs/scaling.md). cudaHostAlloc() takes ten times as long (docs/ceilings.md). */
static polytile_status allocate_memory(pti_staging *staging) {
    int64_t n_pages = pti_ceil_div(2 * PTI_RING_BUFFERS * staging->buffer_bytes, HUGE_PAGE_BYTES);
    staging->memory_bytes = n_pages * HUGE_PAGE_BYTES;
    staging->memory = aligned_alloc(HUGE_PAGE_BYTES, (size_t)staging->memory_bytes);
    pti_copy_task *task = calloc((size_t)n_pages, sizeof *task);
    if (staging->memory == NULL || task == NULL) {
        free(task);
        return pti_fail_memory(staging->cuda->device.object.context, "buffers for transfers",
                               (double)staging->memory_bytes);
    }
    madvise(staging->memory, (size_t)staging->memory_bytes, MADV_NOHUGEPAGE);
    touch_pages(staging, task);
    free(task);
    return pin_buffers(staging);
}

/** Create threads, and buffers for them. */
static polytile_status create_threads_and_rings(pti_staging *staging) {
    pti_cuda_device *cuda = staging->cuda;
    polytile_status status;
    PTI_TRY(pti_copiers_create(cuda->device.object.context,
                               (int)pti_max(1, cuda->n_host_threads - 1), &staging->copiers));
    PTI_TRY(allocate_memory(staging));
    PTI_TRY(pti_ring_create(cuda, staging->memory, staging->n_buffers, staging->buffer_bytes,
                            &staging->in));
    PTI_TRY(pti_ring_create(cuda, staging->memory + staging->n_buffers * staging->buffer_bytes,
                            staging->n_buffers, staging->buffer_bytes, &staging->out));
done:
    return status;
}

polytile_status pti_staging_create(pti_cuda_device *cuda, int64_t buffer_bytes,
                                   pti_staging **staging) {
    pti_staging *made = calloc(1, sizeof *made);
    *staging = NULL;
    if (made == NULL)
        return pti_fail_memory(cuda->device.object.context, "staging", sizeof *made);
    made->cuda = cuda;
    made->buffer_bytes = buffer_bytes;
    polytile_status status = create_threads_and_rings(made);
    if (status == POLYTILE_OK)
        *staging = made;
    else
        pti_staging_destroy(made);
    return status;
}

void pti_staging_destroy(pti_staging *staging) {
    if (staging == NULL)
        return;
    pti_copiers_destroy(staging->copiers);
    pti_ring_destroy(staging->cuda, &staging->in);
    pti_ring_destroy(staging->cuda, &staging->out);
    if (staging->is_pinned)
        staging->cuda->api->cudaHostUnregister(staging->memory);
    free(staging->memory);
    free(staging->download_before);
    free(staging);
}
