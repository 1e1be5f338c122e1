#ifndef POLYTILE_LAUNCH_CUDA_TEAM_MEMORY_H
#define POLYTILE_LAUNCH_CUDA_TEAM_MEMORY_H

#include "launch/cuda/runtime/cuda.h"
#include "message/server.h"

#include <pthread.h>

/* What a GPU's team kernels share with their server, kept from one launch to the next; and copies
 * by the GPU's copy engines while such a kernel has all of its processors. */

/** Copies that copy engines cannot make at once go in parts through this many pinned buffers in
 * turn, each of this size. */
enum { PTI_TEAM_BUFFERS = 2, PTI_TEAM_BUFFER_BYTES = 1 << 20 };

typedef struct pti_cuda_team {
    pti_cuda_device *cuda;
    cudaStream_t stream; /* of copies */
    bool is_warm;        /* copies both ways were made */
    cudaEvent_t copied[PTI_TEAM_BUFFERS];
    void *buffer[PTI_TEAM_BUFFERS];
    pthread_mutex_t way; /* of who copies from a GPU to this one by the host's memory */
    cudaStream_t way_in; /* of the second half of that */
    cudaEvent_t brought[PTI_TEAM_BUFFERS]; /* from another's buffers */
    cudaEvent_t ended;                     /* after the kernel */
    cudaError_t why_ended;                 /* once it has */
    int64_t shared_bytes, slots_bytes;
    pti_slot_device slots; /* as the server sees them */
} pti_cuda_team;

/** Get the memory of a launch, and make ready all that it needs. Errors: DEVICE, NO_MEMORY.
 * Owns: the device owns *team. */
polytile_status pti_cuda_team_reserve(pti_cuda_device *cuda, const char *kernel_name,
                                      pti_server_bytes bytes, pti_cuda_team **team);

#endif
