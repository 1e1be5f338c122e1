#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_FAULT_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_FAULT_H

#include "launch/cuda/runtime/api.h"

#include <stdbool.h>

/* The faulted GPUs of this process. A fault ends the GPU's context, which all handles share, so the
 * whole process remembers it, by runtime and number. Safe from any thread. */

/** The fault of one GPU. */
typedef struct pti_cuda_fault {
    const pti_cuda_api *api; /* what faulted on one runtime is well on another */
    int number;              /* of the GPU */
    int n_gpus;              /* that the runtime counted while it could */
    char text[512];          /* what happened, cut off if it is longer */
} pti_cuda_fault;

/** Remember a GPU's first fault. */
void pti_cuda_fault_add(const pti_cuda_fault *fault);

/** Return whether a GPU has faulted, and find its fault. */
bool pti_cuda_fault_find(const pti_cuda_api *api, int number, pti_cuda_fault *fault);

/** Count GPUs as cudaGetDeviceCount does; if that only repeats a fault's error, return the number
 * from before. */
cudaError_t pti_cuda_count_gpus(const pti_cuda_api *api, int *n_gpus);

/** Forget all faults; for tests, which replace the runtime. */
void pti_cuda_faults_forget(void);

#endif
