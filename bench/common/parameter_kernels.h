#ifndef BENCH_COMMON_PARAMETER_KERNELS_H
#define BENCH_COMMON_PARAMETER_KERNELS_H

#include <polytile/implementation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels whose numbers are given by the launch, and the same with literals in their bodies. The
 * jacobi with a literal is that of the examples. */

#define SAXPY_GIVEN_DECLARATION   "saxpy_given[i](f32 a): in x[i]; inout y[i]"
#define SAXPY_LITERAL_DECLARATION "saxpy_literal[i]: in x[i]; inout y[i]"
#define SAXPY_LITERAL             2.5f

const polytile_implementation *saxpy_given(void);
const polytile_implementation *saxpy_literal(void);

/** y += a + b x + ... + h x^7, of which all are 1 in the body with literals. */
#define POLYNOMIAL_GIVEN_DECLARATION                                                               \
    "polynomial_given[i](f32 a, f32 b, f32 c, f32 d, f32 e, f32 f, f32 g, f32 h): "                \
    "in x[i]; inout y[i]"
#define POLYNOMIAL_LITERAL_DECLARATION "polynomial_literal[i]: in x[i]; inout y[i]"
enum { POLYNOMIAL_PARAMETERS = 8 };

const polytile_implementation *polynomial_given(void);
const polytile_implementation *polynomial_literal(void);

#define JACOBI_GIVEN_DECLARATION                                                                   \
    "jacobi_given[i, j](f32 weight): in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]"

const polytile_implementation *jacobi_given(void);

/** A weight of its own for each of about a hundred steps, near the fifth of the literal one. */
static inline float jacobi_weight(int step) {
    return 0.19f + 0.0002f * (float)step;
}

#ifdef __cplusplus
}
#endif

#endif
