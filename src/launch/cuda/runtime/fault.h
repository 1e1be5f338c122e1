#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_FAULT_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_FAULT_H

#include "launch/cuda/runtime/api.h"

#include <stdbool.h>

/* The GPUs that CUDA has given up on in this process. A fault ends the GPU's context, which all
 * handles share: so the whole process remembers it, by runtime and number. Safe from any thread. */

typedef struct pti_cuda_fault {
    const pti_cuda_api *api; /* what faulted on one runtime is well on another */
    int number;              /* of the GPU */
    int n_gpus;              /* that the runtime counted while it could */
    char text[512];          /* what happened, cut off if it is longer */
} pti_cuda_fault;

/** Remember a fault. Of one GPU the first is kept, and of more GPUs than any host has none. */
void pti_cuda_fault_add(const pti_cuda_fault *fault);

/** Whether a GPU has faulted; *fault is then what is known of it. */
bool pti_cuda_fault_find(const pti_cuda_api *api, int number, pti_cuda_fault *fault);

/** As cudaGetDeviceCount; where that only repeats the error of a fault, the number from before it.
 */
cudaError_t pti_cuda_count_gpus(const pti_cuda_api *api, int *n_gpus);

/** Forget all of them; for tests, which put another runtime in place. */
void pti_cuda_faults_forget(void);

#endif
