#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_COPY_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_COPY_H

#include "launch/cuda/runtime/cuda.h"
#include "launch/host/copy/loop_nest.h"

/**
 * Enqueue the copy of a box, as few 1-D, 2-D and 3-D copies as its dimensions allow.
 *
 * With pageable host memory the call waits for the stream.
 */
polytile_status pti_cuda_copy(pti_cuda_device *cuda, const pti_move *move, enum cudaMemcpyKind kind,
                              cudaStream_t stream);

/** Enqueue the copy of a nest of loops, whose turns may come in any order. */
polytile_status pti_cuda_copy_nest(pti_cuda_device *cuda, const pti_loop_nest *nest,
                                   enum cudaMemcpyKind kind, cudaStream_t stream);

/** Enqueue the copy of a box from another GPU, straight over the link between them. */
polytile_status pti_cuda_copy_from_peer(pti_cuda_device *cuda, const pti_move *move,
                                        int from_number, cudaStream_t stream);

/** Enqueue the writing of one element into every place of a box in device memory. */
polytile_status pti_cuda_fill(pti_cuda_device *cuda, const pti_move *move, cudaStream_t stream);

/** Return whether a loop's steps can be the pitches of a 2-D copy or fill: cudaDeviceProp.memPitch
 * bounds them, the same on every GPU. */
bool pti_cuda_is_pitch(pti_loop loop);

#endif
