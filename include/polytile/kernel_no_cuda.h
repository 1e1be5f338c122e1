#ifndef POLYTILE_KERNEL_NO_CUDA_H
#define POLYTILE_KERNEL_NO_CUDA_H

/* Stands in for kernel_cuda.h where nvcc does not compile: bodies run on the host alone. */

#define PT_DEVICE_FUNCTION static inline __attribute__((always_inline))
#define PT_CUDA_FUNCTION(kernel, indices, ...)
#define PT_CUDA_ADDRESSES(kernel) 0, 0
#define PT_CUDA_PIECES(kernel)    0
#define PT_CUDA_COARSE(kernel, n) 0, 0
#define PT_CUDA_TILES_FUNCTION(kernel, indices, ...)
#define PT_CUDA_TILES(kernel, indices, ...) 0
#define PT_CUDA_TILES_GO_ROUND              0
#define PT_TEAM_CUDA_FUNCTION(kernel, indices, ...)
#define PT_TEAM_CUDA_ADDRESS(kernel) 0

#endif
