#ifndef POLYTILE_LAUNCH_CUDA_STAGING_ROUTE_H
#define POLYTILE_LAUNCH_CUDA_STAGING_ROUTE_H

#include "launch/cuda/runtime/cuda.h"

/* How each array's elements travel: straight from pinned memory, or through the ring. */

/** Kinds of host memory. */
typedef enum pti_cuda_host_memory {
    PTI_CUDA_PAGEABLE,
    PTI_CUDA_REGISTERED, /* pinned for this run, and others that share it */
    PTI_CUDA_PINNED      /* by the user */
} pti_cuda_host_memory;

/**
 * Find the kind of memory of a run's arrays, and pin pageable memory, but no mapped files, where
 * pinning costs less than staging: it moves often, by few threads. The schedule is all that runs
 * until the memory is unpinned: each turn of a period counts.
 *
 * Memory that cannot be pinned (some of it is, locked memory is limited, or it is most of the
 * machine's memory) stays pageable. Memory that another run of this process has pinned is shared;
 * if that has pinned only some pages, the array stays pageable. kinds: one an operand, always
 * filled in. pti_cuda_routes_end() unpins, also after a failure. Errors: INVALID (device or managed
 * memory, by the array's name), DEVICE.
 */
polytile_status pti_cuda_routes_begin(pti_cuda_device *cuda, const pti_schedule *schedule,
                                      polytile_array *const *arrays, pti_cuda_host_memory *kinds);

/** Unpin what was pinned, all of it even if a call fails; the first failure counts. A second call
 * does nothing. */
polytile_status pti_cuda_routes_end(pti_cuda_device *cuda, const pti_schedule *schedule,
                                    polytile_array *const *arrays, pti_cuda_host_memory *kinds);

/** Return whether a command is a transfer through the ring: its memory is pageable, or its runs are
 * so short that packing is faster. */
bool pti_cuda_is_staged(const pti_command *command, const pti_cuda_host_memory *kinds);

#endif
