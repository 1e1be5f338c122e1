#ifndef POLYTILE_LAUNCH_CUDA_FUNCTION_H
#define POLYTILE_LAUNCH_CUDA_FUNCTION_H

#include "launch/cuda/runtime/cuda.h"

/* The CUDA function that a launch runs. */

/** Which of an implementation's CUDA kernels is for the views of a launch. */
const void *pti_cuda_kernel_for(const pti_launch *launch);

/** As pti_cuda_check() for calls that are about a launch's kernel; UNSUPPORTED where CUDA has no
 * code for it. */
polytile_status pti_cuda_check_kernel(pti_cuda_device *cuda, const pti_launch *launch,
                                      cudaError_t error, const char *call);

/** As PTI_CUDA() for calls that are about a launch's kernel. */
#define PTI_KERNEL_CUDA(cuda, launch, call, arguments)                                             \
    pti_cuda_check_kernel(cuda, launch, (cuda)->api->call arguments, #call)

#endif
