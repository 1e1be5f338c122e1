#ifndef EXAMPLES_JACOBI3D_KERNELS_H
#define EXAMPLES_JACOBI3D_KERNELS_H

#include <polytile/implementation.h>

#define JACOBI3D_DECLARATION                                                                       \
    "jacobi3d[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], A[i, j, k-1:k+1]; out B[i, j, k]"
#define COPY3D_DECLARATION "copy[i, j, k]: in A[i, j, k]; out B[i, j, k]"

/** The mean of an element and its six neighbours, in one fixed order: sums in floating point are
 * not associative, and the results are compared bit by bit. */
#define SEVEN_POINT_MEAN(center, above, below, north, south, west, east, seventh)                  \
    ((((((center) + (above)) + (below)) + ((north) + (south))) + ((west) + (east))) * (seventh))

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *jacobi3d_f32_implementation(void);
const polytile_implementation *jacobi3d_f64_implementation(void);
const polytile_implementation *copy3d_f32_implementation(void);
const polytile_implementation *copy3d_f64_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
