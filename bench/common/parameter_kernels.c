#include "common/parameter_kernels.h"

#include "jacobi_kernels.h"

#include <polytile/kernel.h>

POLYTILE_KERNEL(saxpy_given, (i), (float, a), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i);
}

POLYTILE_KERNEL(saxpy_literal, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += SAXPY_LITERAL * PT_AT(x, i);
}

#define POLYNOMIAL(x, a, b, c, d, e, f, g, h)                                                      \
    ((a) +                                                                                         \
     (x) *                                                                                         \
         ((b) + (x) * ((c) + (x) * ((d) + (x) * ((e) + (x) * ((f) + (x) * ((g) + (x) * (h))))))))

POLYTILE_KERNEL(polynomial_given, (i), (const float, x, 1), (float, y, 1), (float, a), (float, b),
                (float, c), (float, d), (float, e), (float, f), (float, g), (float, h)) {
    PT_AT(y, i) += POLYNOMIAL(PT_AT(x, i), a, b, c, d, e, f, g, h);
}

POLYTILE_KERNEL(polynomial_literal, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) += POLYNOMIAL(PT_AT(x, i), 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f);
}

POLYTILE_KERNEL(jacobi_given, (i, j), (float, weight), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = FIVE_POINT_MEAN(PT_AT(A, i, j), PT_AT(A, i - 1, j), PT_AT(A, i + 1, j),
                                     PT_AT(A, i, j - 1), PT_AT(A, i, j + 1), weight);
}

const polytile_implementation *saxpy_given(void) {
    return &saxpy_given_kernel;
}

const polytile_implementation *saxpy_literal(void) {
    return &saxpy_literal_kernel;
}

const polytile_implementation *polynomial_given(void) {
    return &polynomial_given_kernel;
}

const polytile_implementation *polynomial_literal(void) {
    return &polynomial_literal_kernel;
}

const polytile_implementation *jacobi_given(void) {
    return &jacobi_given_kernel;
}
