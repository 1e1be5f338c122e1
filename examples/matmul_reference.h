#ifndef EXAMPLES_MATMUL_REFERENCE_H
#define EXAMPLES_MATMUL_REFERENCE_H

#include <stdint.h>

/** Return the largest difference between C and the product A B, computed by plain loops that share
 * nothing with the kernel; n x n, C order, f32. */
double matmul_compare(const float *a, const float *b, const float *c, int64_t n);

/** Return how far rounding may take two orders of summation apart: twice the classical bound n *
 * epsilon * n * max |a| * max |b|. */
double matmul_rounding_bound(const float *a, const float *b, int64_t n);

#endif
