#ifndef BENCH_MPI_ROUNDS_MANDELBROT_GPU_H
#define BENCH_MPI_ROUNDS_MANDELBROT_GPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of the image on a GPU by hand, in plain CUDA. These end the program after an error. */

/** Make room for so many elements on a GPU, and return as many in pinned memory of the host. */
int32_t *mandelbrot_gpu_begin(int device, int n_elements);

/** Compute so many rows of an n x n image, from the first one on, to that memory. */
void mandelbrot_gpu_rows(int n, int first, int n_rows, int32_t *rows);

void mandelbrot_gpu_end(int32_t *rows);

#ifdef __cplusplus
}
#endif

#endif
