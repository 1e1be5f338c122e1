#include "launch/cuda/runtime/fault.h"
#include "launch/cuda/staging/staging_state.h"

#include "base/checked.h"
#include "launch/device/execution.h"
#include <polytile/size.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { HUGE_PAGE_BYTES = 2 * 1024 * 1024, PAGE_BYTES = 4096 };

/** Looks at what does not move, of about a microsecond each, before the thread begins to sleep. */
enum { LOOKS_BEFORE_SLEEP = 200, SLEEP_NS = 20 * 1000 };

/** Have the threads write into every page, so that pinning, by one thread, finds them all there.
 * task: one a huge page. */
static void touch(const pti_staging *staging, pti_copy_task *task) {
    char zero = 0;
    const int64_t n_pages = HUGE_PAGE_BYTES / PAGE_BYTES;
    polytile_domain pages = polytile_domain_from_extents(1, &n_pages);
    pti_layout page_starts = {.hull = pages, .stride_bytes = {PAGE_BYTES}};
    pti_layout everywhere = {.hull = pages};
    for (int64_t k = 0; k < staging->memory_bytes / HUGE_PAGE_BYTES; k++) {
        char *begin = staging->memory + k * HUGE_PAGE_BYTES;
        task[k] = (pti_copy_task){.move = {&pages, 1, {begin, &page_starts}, {&zero, &everywhere}},
                                  .keeps_cache = true};
        pti_copiers_submit(staging->copiers, &task[k]);
    }
    pti_copiers_wait(staging->copiers);
}

/** What CUDA said of the smallest rings, and what limits locked memory in most places. */
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

/** Pin the first part of the memory, for as many buffers as there may be. */
static polytile_status pin(pti_staging *staging) {
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

/** The rings' memory in whole huge pages; cudaHostAlloc() would take ten times as long
 * (docs/ceilings.md). */
static polytile_status take_memory(pti_staging *staging) {
    int64_t n_pages = pti_ceil_div(2 * PTI_RING_BUFFERS * staging->buffer_bytes, HUGE_PAGE_BYTES);
    staging->memory_bytes = n_pages * HUGE_PAGE_BYTES;
    staging->memory = aligned_alloc(HUGE_PAGE_BYTES, (size_t)staging->memory_bytes);
    pti_copy_task *task = calloc((size_t)n_pages, sizeof *task);
    if (staging->memory == NULL || task == NULL) {
        free(task);
        return pti_fail_memory(staging->cuda->device.object.context, "buffers for transfers",
                               (double)staging->memory_bytes);
    }
    madvise(staging->memory, (size_t)staging->memory_bytes, MADV_HUGEPAGE);
    touch(staging, task);
    free(task);
    return pin(staging);
}

/** Threads, and buffers for them. */
static polytile_status set_up(pti_staging *staging) {
    pti_cuda_device *cuda = staging->cuda;
    polytile_status status;
    PTI_TRY(pti_copiers_create(cuda->device.object.context,
                               (int)pti_max(1, cuda->n_host_threads - 1), &staging->copiers));
    PTI_TRY(take_memory(staging));
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
    polytile_status status = set_up(made);
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

/** Fill in download_before; newest: scratch, one an operand. */
static void chain_downloads(pti_staging *staging, const pti_schedule *schedule, int64_t *newest) {
    for (int a = 0; a < schedule->instance->n_operands; a++)
        newest[a] = -1;
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        staging->download_before[k] = -1;
        if (op->kind != PTI_UPLOAD && op->kind != PTI_DOWNLOAD)
            continue;
        int64_t *newest_of_operand = &newest[schedule->placement[op->placement].operand];
        staging->download_before[k] = *newest_of_operand;
        if (op->kind == PTI_DOWNLOAD)
            *newest_of_operand = k;
    }
}

polytile_status pti_staging_begin(pti_staging *staging, pti_execution *execution,
                                  const pti_cuda_host_memory *kinds) {
    const pti_schedule *schedule = execution->schedule;
    size_t n_entries = (size_t)schedule->n_ops + (size_t)schedule->instance->n_operands;
    staging->download_before = malloc((n_entries + 1) * sizeof *staging->download_before);
    if (staging->download_before == NULL)
        return pti_fail_memory(staging->cuda->device.object.context,
                               schedule->instance->kernel_name, (double)n_entries * 8);
    chain_downloads(staging, schedule, staging->download_before + schedule->n_ops);
    staging->execution = execution;
    staging->kinds = kinds;
    staging->n_handed = staging->n_direct = 0;
    pti_ring_clear(&staging->in);
    pti_ring_clear(&staging->out);
    pti_cursor_begin(&staging->uploads, PTI_UPLOAD);
    pti_cursor_begin(&staging->downloads, PTI_DOWNLOAD);
    return POLYTILE_OK;
}

polytile_status pti_staging_pump(pti_staging *staging) {
    polytile_status status;
    PTI_TRY(pti_look_back(staging));
    PTI_TRY(pti_serve_downloads(staging));
    PTI_TRY(pti_look_ahead(staging));
done:
    return status;
}

/** Sleep only when nothing has moved for as long as a copy may take. */
static void rest(pti_staging *staging) {
    static const struct timespec moment = {.tv_nsec = SLEEP_NS};
    if (++staging->n_idle < LOOKS_BEFORE_SLEEP)
        sched_yield();
    else
        nanosleep(&moment, NULL);
}

polytile_status pti_staging_wait(pti_staging *staging) {
    int64_t n_steps = staging->n_steps;
    polytile_status status = pti_staging_pump(staging);
    if (staging->n_steps != n_steps)
        staging->n_idle = 0;
    else
        rest(staging);
    return status;
}

/** The last download that must be recorded before a command's waits and copies are enqueued. */
static int64_t last_needed(const pti_staging *staging, const pti_command *command, bool is_staged) {
    const pti_schedule *schedule = staging->execution->schedule;
    int64_t last = -1;
    if (command->op->kind == PTI_DOWNLOAD && !is_staged)
        return command->index - 1;
    for (int w = 0; w < command->op->n_waits; w++) {
        int64_t other = schedule->wait[command->op->first_wait + w];
        if (schedule->op[other].kind == PTI_DOWNLOAD)
            last = pti_max(last, other);
    }
    return last;
}

/** The newest download that must be in the user's memory before a direct transfer is enqueued. The
 * schedule orders direct downloads with it, so those through the ring matter only. */
static int64_t newest_to_drain(pti_staging *staging, const pti_command *command, bool is_staged) {
    bool is_transfer = command->op->kind == PTI_UPLOAD || command->op->kind == PTI_DOWNLOAD;
    return is_transfer && !is_staged ? pti_newest_conflict(staging, command, pti_n_drained(staging))
                                     : -1;
}

polytile_status pti_staging_settle(pti_staging *staging, const pti_command *command) {
    polytile_status status;
    bool is_staged = pti_cuda_is_staged(command, staging->kinds);
    int64_t needed = last_needed(staging, command, is_staged);
    staging->n_handed = command->index;
    PTI_TRY(pti_staging_pump(staging));
    while (pti_n_received(staging) <= needed)
        PTI_TRY(pti_staging_wait(staging));
    int64_t conflict = newest_to_drain(staging, command, is_staged);
    while (pti_n_drained(staging) <= conflict)
        PTI_TRY(pti_staging_wait(staging));
done:
    return status;
}

static bool is_at_rest(const pti_staging *staging) {
    return staging->in.n_returned == staging->in.n_taken &&
           pti_n_drained(staging) == staging->execution->schedule->n_ops;
}

polytile_status pti_staging_finish(pti_staging *staging, bool succeeded) {
    polytile_status status = POLYTILE_OK;
    if (succeeded && staging->execution != NULL) {
        staging->n_handed = staging->execution->schedule->n_ops;
        do
            PTI_TRY(pti_staging_wait(staging));
        while (!is_at_rest(staging));
    }
done:
    pti_copiers_wait(staging->copiers);
    free(staging->download_before);
    staging->download_before = NULL;
    staging->execution = NULL;
    return status;
}
