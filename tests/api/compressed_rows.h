#ifndef POLYTILE_TESTS_API_COMPRESSED_ROWS_H
#define POLYTILE_TESTS_API_COMPRESSED_ROWS_H

#include <polytile/kernel.h>

/* Products of sparse matrices and vectors, as kernels whose index arrays have elements of type
 * T. */

/** Compressed rows: "in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]". */
#define COMPRESSED_ROWS(name, T)                                                                   \
    POLYTILE_KERNEL(name, (i), (const float, V, 1), (const T, P, 1), (const float, x, 1),          \
                    (const T, K, 1), (float, y, 1)) {                                              \
        float sum = 0;                                                                             \
        PT_SUM_RANGE(sum, k, PT_AT(P, i), PT_AT(P, i + 1) - 1, (V, x, K),                          \
                     PT_AT(V, k) * PT_AT(x, PT_AT(K, k)));                                         \
        PT_AT(y, i) = sum;                                                                         \
    }

/** Those of a list of rows: "in V[P[L[i]]:P[L[i]+1]-1], x[K[P[L[i]]:P[L[i]+1]-1]]; out y[i]". */
#define LISTED_ROWS(name, T)                                                                       \
    POLYTILE_KERNEL(name, (i), (const float, V, 1), (const T, P, 1), (const T, L, 1),              \
                    (const float, x, 1), (const T, K, 1), (float, y, 1)) {                         \
        float sum = 0;                                                                             \
        PT_SUM_RANGE(sum, k, PT_AT(P, PT_AT(L, i)), PT_AT(P, PT_AT(L, i) + 1) - 1, (V, x, K),      \
                     PT_AT(V, k) * PT_AT(x, PT_AT(K, k)));                                         \
        PT_AT(y, i) = sum;                                                                         \
    }

/** Entries with a row and a column each: "in V[e], x[K[e]]; sum y[R[e]]". */
#define MATRIX_ENTRIES(name, T)                                                                    \
    POLYTILE_KERNEL(name, (e), (const float, V, 1), (const float, x, 1), (const T, K, 1),          \
                    (float, y, 1), (const T, R, 1)) {                                              \
        PT_SUM(PT_AT(y, PT_AT(R, e)), PT_AT(V, e) * PT_AT(x, PT_AT(K, e)));                        \
    }

#endif
