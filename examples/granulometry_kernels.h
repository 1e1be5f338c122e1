#ifndef EXAMPLES_GRANULOMETRY_KERNELS_H
#define EXAMPLES_GRANULOMETRY_KERNELS_H

#include <polytile/implementation.h>

/* Neighbours outside the volume, whose extents are the parameters, do not count. */

/** The least of the 27 elements around one. */
#define ERODE_DECLARATION                                                                          \
    "erode[i, j, k](i64 ni, i64 nj, i64 nk): in A[i-1:i+1, j-1:j+1, k-1:k+1]; out B[i, j, k]"
/** The most of them. */
#define DILATE_DECLARATION                                                                         \
    "dilate[i, j, k](i64 ni, i64 nj, i64 nk): in A[i-1:i+1, j-1:j+1, k-1:k+1]; out B[i, j, k]"
/** How many elements are not zero. */
#define COUNT_DECLARATION "count[i, j, k]: in A[i, j, k]; out sum c[0]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *erode_implementation(void);
const polytile_implementation *dilate_implementation(void);
const polytile_implementation *count_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
