#ifndef POLYTILE_LAUNCH_CUDA_FUNCTION_H
#define POLYTILE_LAUNCH_CUDA_FUNCTION_H

#include "launch/cuda/grid.h"
#include "launch/cuda/runtime/cuda.h"

/* The CUDA function of a launch, and how it is enqueued. */

/** The bytes of arguments that CUDA takes: since 12.1 more, of kernels that nvcc compiled for newer
 * GPUs alone. */
#if CUDART_VERSION >= 12010
enum { PTI_CUDA_ARGUMENT_BYTES = 32764 };
#else
enum { PTI_CUDA_ARGUMENT_BYTES = 4096 };
#endif

/** Return the CUDA kernel of an implementation for the views of a launch, a thread of which runs
 * the body once. */
const void *pti_cuda_kernel_for(const pti_sub_kernel *sub_kernel);

/** Check a call about a launch's kernel as pti_cuda_check() does; UNSUPPORTED if CUDA has no code
 * for it. */
polytile_status pti_cuda_check_kernel(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                      cudaError_t error, const char *call);

/** PTI_CUDA() for calls about a launch's kernel. */
#define PTI_KERNEL_CUDA(cuda, launch, call, arguments)                                             \
    pti_cuda_check_kernel(cuda, launch, (cuda)->api->call arguments, #call)

/** Return a sub-kernel's stream. */
cudaStream_t pti_cuda_stream_of(const pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel);

/** Enqueue a launch by one of its kernels, with a valid block. */
polytile_status pti_cuda_launch_with(pti_cuda_device *cuda, const pti_sub_kernel *sub_kernel,
                                     const pti_cuda_variant *variant, pti_cuda_extents block);

#endif
