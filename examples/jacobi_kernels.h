#ifndef EXAMPLES_JACOBI_KERNELS_H
#define EXAMPLES_JACOBI_KERNELS_H

#include <polytile/implementation.h>

#define JACOBI_DECLARATION "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]"
#define COPY_DECLARATION   "copy[i, j]: in A[i, j]; out B[i, j]"

/** The mean of an element and its four neighbours, in one fixed order: sums in floating point are
 * not associative, and the results are compared bit by bit. */
#define FIVE_POINT_MEAN(center, north, south, west, east, fifth)                                   \
    (((((center) + (north)) + (south)) + ((west) + (east))) * (fifth))

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *jacobi_f32_implementation(void);
const polytile_implementation *jacobi_f64_implementation(void);
const polytile_implementation *copy_f32_implementation(void);
const polytile_implementation *copy_f64_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
