#ifndef POLYTILE_LAUNCH_CUDA_STAGING_REGISTRATIONS_H
#define POLYTILE_LAUNCH_CUDA_STAGING_REGISTRATIONS_H

#include "launch/cuda/runtime/cuda.h"

/* Arrays that the runs of this process have pinned, and how many runs use each. CUDA cannot tell
 * them from memory that its user pinned, and they are unpinned when the last of the runs ends. Runs
 * may be those of other contexts and devices, in other threads. */

/** What memory is, as its first and last byte say, with this process' own runs told apart. */
typedef enum pti_registration {
    PTI_NOT_REGISTERED,      /* by a run; first and last say what CUDA makes of it */
    PTI_REGISTRATION_SHARED, /* taken, to be given back */
    PTI_REGISTERED_IN_PART,  /* a run has pinned some of its pages */
} pti_registration;

/** Share the memory if a run has pinned exactly that, or ask CUDA about its first and last byte; no
 * run begins or ends in between. Errors: DEVICE. */
polytile_status pti_registrations_look(pti_cuda_device *cuda, const void *memory, int64_t n_bytes,
                                       pti_registration *found, enum cudaMemoryType *first,
                                       enum cudaMemoryType *last);

/** Pin memory, or share it with the runs that have; NULL, or why that cannot be: CUDA refuses, or
 * all that runs have pinned would be more than half of the machine's memory. */
const char *pti_registrations_take(pti_cuda_device *cuda, void *memory, int64_t n_bytes);

/** Unpin it with the last of the runs that took it. Errors: DEVICE; it is given back then too. */
polytile_status pti_registrations_give_back(pti_cuda_device *cuda, void *memory);

#endif
