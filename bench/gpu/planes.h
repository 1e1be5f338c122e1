#ifndef BENCH_GPU_PLANES_H
#define BENCH_GPU_PLANES_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The numbers of steps that one launch may make, odd ones: the other field gets the last. */
enum { PLANES_FEW_STEPS = 3, PLANES_MANY_STEPS = 5 };

/**
 * Make some steps of the example's jacobi3d over the interior of n x n x n floats by hand, from one
 * field to another, which has its own border; the steps between are in no field. planes.cu says
 * how. Errors: also cudaErrorInvalidValue, of another number of steps.
 */
cudaError_t gpu_planes_launch(const float *from, float *to, int64_t n, int n_steps,
                              cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
