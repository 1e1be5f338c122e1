#ifndef POLYTILE_LAUNCH_CUDA_COPY_H
#define POLYTILE_LAUNCH_CUDA_COPY_H

#include "launch/cuda/cuda.h"

/**
 * Enqueue the copy of a box, as few 1-D, 2-D and 3-D copies as its dimensions allow.
 *
 * Host memory must be pinned, or the call waits for the stream.
 */
polytile_status pti_cuda_copy(pti_cuda_device *cuda, const pti_move *move, enum cudaMemcpyKind kind,
                              cudaStream_t stream);

/** Enqueue the writing of one element into every place of a box in device memory. */
polytile_status pti_cuda_fill(pti_cuda_device *cuda, const pti_move *move, cudaStream_t stream);

#endif
