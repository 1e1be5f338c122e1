#ifndef BENCH_COMMON_CSR_KERNELS_H
#define BENCH_COMMON_CSR_KERNELS_H

#include <polytile/implementation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Products with a matrix in compressed rows, all of whose index arrays are i32. */

/** A row a thread, its entries by PT_SUM_RANGE, or by a loop of the thread's own. */
#define CSR_ROWS_DECLARATION "rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]"
const polytile_implementation *csr_rows(void);
const polytile_implementation *csr_rows_alone(void);

/** An entry a thread; y begins with zeros. */
#define CSR_ENTRIES_DECLARATION "entries[e]: in V[e], x[K[e]]; sum y[R[e]]"
const polytile_implementation *csr_entries(void);

#ifdef __cplusplus
}
#endif

#endif
