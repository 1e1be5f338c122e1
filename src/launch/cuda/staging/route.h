#ifndef POLYTILE_LAUNCH_CUDA_STAGING_ROUTE_H
#define POLYTILE_LAUNCH_CUDA_STAGING_ROUTE_H

#include "launch/cuda/runtime/cuda.h"

/* How the elements of each array travel: straight from pinned memory, or through the ring. */

typedef enum pti_cuda_host_memory {
    PTI_CUDA_PAGEABLE,
    PTI_CUDA_REGISTERED, /* pinned for this run, and others that share it */
    PTI_CUDA_PINNED      /* by the user */
} pti_cuda_host_memory;

/**
 * Look at the memory of a run's arrays, and pin what is worth it: pageable memory, no mapped file,
 * that is moved so often, over so few threads, that pinning it costs less than staging it.
 *
 * Memory that cannot be pinned (some of it is already, there is a limit on locked memory, or it is
 * most of the machine's memory) stays pageable. Memory that another run of this process has pinned
 * is shared with it; if that has pinned only some of the pages, the array stays pageable. kinds:
 * one an operand, filled in whatever is returned. What was pinned stays so until
 * pti_cuda_routes_end(), which is called after a failure too. Errors: INVALID (device or managed
 * memory, by the array's name), DEVICE.
 */
polytile_status pti_cuda_routes_begin(pti_cuda_device *cuda, const pti_execution *execution,
                                      pti_cuda_host_memory *kinds);

/** Unpin what was pinned, all of it even if a call fails; the first failure counts. It is pageable
 * then, and a second call does nothing. */
polytile_status pti_cuda_routes_end(pti_cuda_device *cuda, const pti_execution *execution,
                                    pti_cuda_host_memory *kinds);

/** Whether a command is a transfer that goes through the ring: its memory is pageable, or its runs
 * are so short that packing them is faster. */
bool pti_cuda_is_staged(const pti_command *command, const pti_cuda_host_memory *kinds);

#endif
