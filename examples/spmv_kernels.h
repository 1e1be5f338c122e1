#ifndef EXAMPLES_SPMV_KERNELS_H
#define EXAMPLES_SPMV_KERNELS_H

#include <polytile/implementation.h>

/* The product of a sparse matrix in compressed rows and a vector: the entries of row i are those
 * from P[i] to P[i+1]-1, with columns K and values V. */

/** A row a thread. */
#define SPMV_ROWS_DECLARATION "spmv_rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]"
/** An entry a thread; R has their rows, and y begins with zeros. */
#define SPMV_ENTRIES_DECLARATION "spmv_entries[e]: in V[e], x[K[e]]; sum y[R[e]]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *spmv_rows_f32_implementation(void);
const polytile_implementation *spmv_rows_f64_implementation(void);
const polytile_implementation *spmv_entries_f32_implementation(void);
const polytile_implementation *spmv_entries_f64_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
