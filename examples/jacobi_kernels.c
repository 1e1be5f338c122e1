#ifndef EXAMPLES_STENCIL_H
#define EXAMPLES_STENCIL_H

#include <polytile/kernel.h>

#define JACOBI_DECLARATION "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]"

/** The mean of an element and its four neighbours, in one fixed order: sums in floating point are
 * not associative, and the results are compared bit by bit. */
#define FIVE_POINT_MEAN(center, north, south, west, east, fifth)                                   \
    (((((center) + (north)) + (south)) + ((west) + (east))) * (fifth))

POLYTILE_KERNEL(jacobi_f32, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(PT_AT(A, i, j), PT_AT(A, i - 1, j), PT_AT(A, i + 1, j),
                                     PT_AT(A, i, j - 1), PT_AT(A, i, j + 1), 0.2f);
}

POLYTILE_KERNEL(jacobi_f64, (i, j), (const double, A, 2), (double, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(PT_AT(A, i, j), PT_AT(A, i - 1, j), PT_AT(A, i + 1, j),
                                     PT_AT(A, i, j - 1), PT_AT(A, i, j + 1), 0.2);
}

#endif
