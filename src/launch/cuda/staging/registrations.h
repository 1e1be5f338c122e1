#ifndef POLYTILE_LAUNCH_CUDA_STAGING_REGISTRATIONS_H
#define POLYTILE_LAUNCH_CUDA_STAGING_REGISTRATIONS_H

#include "launch/cuda/runtime/cuda.h"

/* Arrays that runs of this process have pinned, with how many runs use each; the last one unpins
 * it. CUDA cannot distinguish them from memory that the user pinned. Runs may be of other contexts
 * and devices, in other threads. */

/** What kind memory is by its first and last byte; this process' own runs are a kind of their
 * own. */
typedef enum pti_registration {
    PTI_NOT_REGISTERED,      /* by a run; first and last say what CUDA makes of it */
    PTI_REGISTRATION_SHARED, /* taken, to be given back */
    PTI_REGISTERED_IN_PART,  /* a run has pinned some of its pages */
} pti_registration;

/** Share the memory if a run has pinned exactly it, or ask CUDA about its first and last byte; no
 * run begins or ends in between. Errors: DEVICE. */
polytile_status pti_registrations_look(pti_cuda_device *cuda, const void *memory, int64_t n_bytes,
                                       pti_registration *found, enum cudaMemoryType *first,
                                       enum cudaMemoryType *last);

/** Pin memory, or share it with the runs that have. Returns NULL, or why not: CUDA refuses, or runs
 * would pin more than half of the machine's memory. */
const char *pti_registrations_take(pti_cuda_device *cuda, void *memory, int64_t n_bytes);

/** Release memory; the last run unpins it. Errors: DEVICE; it is released then, too. */
polytile_status pti_registrations_give_back(pti_cuda_device *cuda, void *memory);

#endif
