#ifndef BENCH_GPU_HAND_PIPELINE_H
#define BENCH_GPU_HAND_PIPELINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The vector addition z = x + y out of pinned host memory, written by hand for this one kernel:
 * three streams, events between them, chunks in two or three buffers. */

typedef struct hand_pipeline hand_pipeline;

/** Take buffers and streams for chunks of so many elements. Owned by the caller. */
hand_pipeline *hand_pipeline_create(int64_t chunk, int n_buffers);
void hand_pipeline_destroy(hand_pipeline *pipeline);

/** Device memory that the buffers take, in bytes. */
int64_t hand_pipeline_bytes(int64_t chunk, int n_buffers);

/** Add n elements and wait for the result. */
void hand_pipeline_run(hand_pipeline *pipeline, const float *x, const float *y, float *z,
                       int64_t n);

#ifdef __cplusplus
}
#endif

#endif
