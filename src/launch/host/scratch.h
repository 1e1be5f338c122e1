#ifndef POLYTILE_LAUNCH_HOST_SCRATCH_H
#define POLYTILE_LAUNCH_HOST_SCRATCH_H

#include "launch/device/device.h"

/* Memory for the scratch of launches in place. Threads that a worker runs one after the other have
 * the same memory, so that it does not grow with the launch. */

/** What a worker has for scratch: enough for threads that take this together, or for one
 * thread that takes more. */
enum { PTI_HOST_SCRATCH_BYTES = 1 << 18 };

/** Zero-initialise. */
typedef struct pti_host_scratch {
    void *memory; /* owned */
    int64_t memory_bytes;
    int64_t worker_bytes; /* of each worker, for the current launch */
    polytile_view *views; /* each worker's own copy of the launch's; owned */
    int64_t n_views_had;
} pti_host_scratch;

void pti_host_scratch_free(pti_host_scratch *scratch);

/** Have memory for the workers of a launch that lacks scratch. Errors: NO_MEMORY. */
polytile_status pti_host_scratch_reserve(polytile_context *ctx, const pti_sub_kernel *sub_kernel,
                                         int n_workers, pti_host_scratch *scratch);

/** Have memory for all threads of the launch at once, as a launcher runs them. Errors: NO_MEMORY.
 * Returns in *views the launch's, with that memory; scratch owns them. */
polytile_status pti_host_scratch_reserve_whole(polytile_context *ctx,
                                               const pti_sub_kernel *sub_kernel,
                                               pti_host_scratch *scratch,
                                               const polytile_view **views);

/** Run threads of a launch over views that have memory. */
typedef void pti_run_threads(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                             const polytile_view *views);

/** Run threads on the calling thread, as one of the workers that memory was reserved for, in parts
 * whose scratch fits the worker's memory. */
void pti_host_scratch_run(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                          const polytile_view *views, int worker, pti_run_threads *run);

#endif
