#ifndef POLYTILE_LAUNCH_CUDA_ROUTE_H
#define POLYTILE_LAUNCH_CUDA_ROUTE_H

#include "launch/cuda/cuda.h"

/* How the elements of each array travel: straight from pinned memory, or through the ring. */

typedef enum pti_cuda_host_memory {
    PTI_CUDA_PINNED,     /* by the user */
    PTI_CUDA_REGISTERED, /* pinned for this run */
    PTI_CUDA_PAGEABLE
} pti_cuda_host_memory;

/**
 * Look at the memory of a run's arrays, and pin what is worth it: pageable memory, no mapped file,
 * that is moved so often, over so few threads, that pinning it costs less than staging it.
 *
 * Registering costs 25 ms/GiB and staging about 11 GB/s a thread (docs/ceilings.md).
 * kinds: one an operand, filled in. Errors: INVALID (device or managed memory, by the array's
 * name), DEVICE. What was pinned stays so until pti_cuda_routes_end().
 */
polytile_status pti_cuda_routes_begin(pti_cuda_device *cuda, const pti_execution *execution,
                                      pti_cuda_host_memory *kinds);

/** Unpin what was pinned. */
polytile_status pti_cuda_routes_end(pti_cuda_device *cuda, const pti_execution *execution,
                                    const pti_cuda_host_memory *kinds);

/** Whether a transfer goes through the ring: its memory is pageable, or its runs are so short that
 * packing them is faster. */
bool pti_cuda_is_staged(const pti_command *command, const pti_cuda_host_memory *kinds);

#endif
