#ifndef BENCH_GPU_TILES_H
#define BENCH_GPU_TILES_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Steps of the example's jacobi that one launch makes, so that the other field gets the last of
 * them: an odd number. */
enum { TILES_N_STEPS = 7 };

/**
 * Make TILES_N_STEPS steps over the interior of n x n floats by hand, from one field to another,
 * which has its own border; the steps between are in no field. tiles.cu says how.
 */
cudaError_t gpu_tiles_launch(const float *from, float *to, int64_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
