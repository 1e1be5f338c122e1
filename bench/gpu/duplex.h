#ifndef BENCH_GPU_DUPLEX_H
#define BENCH_GPU_DUPLEX_H

#include <stdint.h>

#include <cuda_runtime_api.h>

/* The ceiling of a run that the link bounds: its arrays, whole, copied both ways at once. */

enum { DUPLEX_MOST_IN = 2 };

/** Pinned arrays of one size; the device's buffers and streams belong to the process. */
typedef struct duplex {
    int n_in;
    const float *in[DUPLEX_MOST_IN];
    float *out;
    int64_t n_bytes; /* of each array */
    void *device_in[DUPLEX_MOST_IN];
    void *device_out;
    cudaStream_t stream_in;
    cudaStream_t stream_out;
} duplex;

/** Take device memory for whole arrays, and random numbers for what is copied out. */
void duplex_prepare(duplex *d);

/** Seconds of the copies: all that goes in in one stream, what goes out in another. */
double duplex_time(const duplex *d);

#endif
