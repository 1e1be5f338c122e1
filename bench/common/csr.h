#ifndef BENCH_COMMON_CSR_H
#define BENCH_COMMON_CSR_H

#include "common/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sparse matrices in compressed rows and two vectors, out of the generators of the examples. */

typedef struct bench_csr {
    int64_t n_rows; /* and columns */
    int64_t n_entries;
    int32_t *P; /* the entries of row i are those from P[i] to P[i+1]-1 */
    int32_t *K; /* columns */
    int32_t *R; /* rows; NULL: not wanted */
    float *V;   /* small whole numbers, so that sums are exact */
    float *x;
    float *y;
} bench_csr;

/** Make a matrix of a generator with about so many entries, about 16 a row. */
void bench_csr_create(bench_csr *of, const char *generator, int64_t n_entries, bool has_rows);
void bench_csr_destroy(bench_csr *of);

/** Return what all its arrays hold. Units: bytes. */
int64_t bench_csr_bytes(const bench_csr *of);

/** y = A x by a plain loop, a row an iteration. */
void bench_csr_multiply(const bench_csr *of, float *y);

/** Zero all of y. */
void bench_csr_clear(const bench_csr *of);

enum { BENCH_CSR_ARRAYS = 5 };

/** Wrap what a kernel of csr_kernels.h takes, in its order. The context owns the arrays. */
void bench_csr_wrap(const bench_csr *of, polytile_context *ctx, const polytile_kernel *kernel,
                    polytile_array **array);

#ifdef __cplusplus
}
#endif

#endif
