#ifndef POLYTILE_TESTS_LAUNCH_KERNELS_H
#define POLYTILE_TESTS_LAUNCH_KERNELS_H

#include <polytile/kernel.h>

/* Kernel bodies for the declarations that tests run. Sums are of small integers, so every order of
 * them gives the same bits. */

POLYTILE_KERNEL(add, (i), (const float, x, 1), (const float, y, 1), (float, z, 1)) {
    PT_AT(z, i) = PT_AT(x, i) + PT_AT(y, i);
}

POLYTILE_KERNEL(axpy, (i), (float, a), (const float, x, 1), (int64_t, b), (float, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i) + (float)(b * PT_EXTENT(x, 0));
}

POLYTILE_KERNEL(smooth, (i), (const double, A, 1), (double, B, 1)) {
    PT_AT(B, i) = (PT_AT(A, i - 1) + PT_AT(A, i) + PT_AT(A, i + 1)) / 3;
}

POLYTILE_KERNEL(jacobi, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        0.25f * (PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j) + PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1));
}

POLYTILE_KERNEL(heat, (i, j, k), (const float, A, 3), (float, B, 3)) {
    PT_AT(B, i, j, k) = PT_AT(A, i - 1, j, k) + PT_AT(A, i + 1, j, k) + PT_AT(A, i, j - 1, k) +
                        PT_AT(A, i, j + 1, k) + PT_AT(A, i, j, k - 1) + PT_AT(A, i, j, k + 1) -
                        6 * PT_AT(A, i, j, k);
}

POLYTILE_KERNEL(matmul, (i, j), (const float, A, 2), (const float, B, 2), (float, C, 2)) {
    float sum = 0;
    for (int64_t k = PT_FIRST(A, 1); k <= PT_LAST(A, 1); k++)
        sum += PT_AT(A, i, k) * PT_AT(B, k, j);
    PT_AT(C, i, j) = sum;
}

POLYTILE_KERNEL(gram, (i, j), (const float, A, 2), (float, G, 2)) {
    float sum = 0;
    for (int64_t k = PT_FIRST(A, 1); k <= PT_LAST(A, 1); k++)
        sum += PT_AT(A, i, k) * PT_AT(A, j, k);
    PT_AT(G, i, j) = sum;
}

POLYTILE_KERNEL(skip, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i) + 2 * PT_AT(x, 2 * i) + 4 * PT_AT(x, 0);
}

POLYTILE_KERNEL(diagonal, (i), (const float, D, 2), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(D, i, 2 * i) + 2 * PT_AT(D, i, 2 * i + 1);
}

/** Changes two elements of each row, ever farther to the left. */
POLYTILE_KERNEL(clipped, (i), (float, D, 2), (const float, y, 1)) {
    for (int64_t j = i - 1; j <= i + 1; j++)
        if (j >= PT_FIRST(D, 1) && j <= PT_LAST(D, 1))
            PT_AT(D, i, j) = 2 * PT_AT(D, i, j) + PT_AT(y, i);
}

POLYTILE_KERNEL(falling, (i), (float, D, 2), (const float, y, 1)) {
    const int64_t j = PT_ARRAY_LAST(D, 1) - 2 * i;
    PT_AT(D, i, j) = 2 * PT_AT(D, i, j) + PT_AT(y, i);
    PT_AT(D, i, j - 1) = PT_AT(y, i);
}

POLYTILE_KERNEL(gemm, (i, j, k), (const float, A, 2), (const float, B, 2), (float, C, 2)) {
    PT_SUM(PT_AT(C, i, j), PT_AT(A, i, k) * PT_AT(B, k, j));
}

POLYTILE_KERNEL(dot, (i), (const double, x, 1), (const double, y, 1), (double, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i) * PT_AT(y, i));
}

POLYTILE_KERNEL(least, (i, j), (const int32_t, A, 2), (int32_t, m, 1)) {
    PT_MIN(PT_AT(m, j), PT_AT(A, i, j));
}

POLYTILE_KERNEL(coarsen, (i), (const float, fine, 1), (float, coarse, 1)) {
    PT_AT(coarse, i) = PT_AT(fine, 2 * i) + PT_AT(fine, 2 * i + 1) + PT_AT(fine, 2 * i + 2);
}

POLYTILE_KERNEL(odd, (i), (const int64_t, x, 1), (int64_t, y, 1)) {
    int64_t sum = 0;
    for (int64_t k = PT_FIRST(x, 0); k <= PT_LAST(x, 0); k += 2)
        sum += PT_AT(x, k);
    PT_AT(y, i) = sum + i;
}

POLYTILE_KERNEL(lower, (i), (const double, L, 2), (const double, x, 1), (double, y, 1)) {
    double sum = 0;
    for (int64_t j = 0; j <= i; j++)
        sum += PT_AT(L, i, j) * PT_AT(x, j);
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(hankel, (i, j), (const int16_t, h, 1), (int16_t, H, 2)) {
    PT_AT(H, i, j) = PT_AT(h, i + j);
}

POLYTILE_KERNEL(transpose, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, j, i) = PT_AT(A, i, j);
}

POLYTILE_KERNEL(prefix, (i, j), (const float, A, 2), (float, B, 2)) {
    float sum = 0;
    for (int64_t b = 0; b <= j; b++)
        sum += PT_AT(A, i, b);
    PT_AT(B, i, j) = sum;
}

POLYTILE_KERNEL(scatter, (i), (const uint8_t, x, 1), (uint8_t, y, 1)) {
    PT_AT(y, 3 * i + 1) = PT_AT(x, i);
}

POLYTILE_KERNEL(scale, (i), (float, x, 1)) {
    PT_AT(x, i) *= 2;
}

/* Bodies of more indices than three: each transposes or sums, so a wrong order of subscripts shows.
 */

POLYTILE_KERNEL(four, (a, b, c, d), (const int32_t, X, 4), (int32_t, Y, 4)) {
    PT_AT(Y, d, b, c, a) = PT_AT(X, a, b, c, d) + (int32_t)(a + 10 * c);
}

POLYTILE_KERNEL(five, (a, b, c, d, e), (const int32_t, X, 5), (int32_t, Y, 5)) {
    PT_AT(Y, e, d, c, b, a) = PT_AT(X, a, b, c, d, e) + (int32_t)(a + 10 * e);
}

POLYTILE_KERNEL(six, (a, b, c, d, e, f), (const int32_t, X, 6), (int32_t, Y, 6)) {
    PT_AT(Y, a, b, c, d, e, f) = PT_AT(X, a, b, c, d, e + 1, f) + PT_AT(X, a, b, c, d, e, f) +
                                 (int32_t)(PT_LAST(X, 5) - PT_FIRST(X, 5));
}

POLYTILE_KERNEL(seven, (a, b, c, d, e, f, g), (const int32_t, X, 7), (int32_t, Y, 4)) {
    PT_SUM(PT_AT(Y, a, c, e, g), PT_AT(X, g, f, e, d, c, b, a));
}

POLYTILE_KERNEL(eight, (a, b, c, d, e, f, g, h), (const int32_t, X, 8), (const int32_t, Y, 1),
                (int32_t, Z, 8)) {
    PT_AT(Z, b, a, d, c, f, e, h, g) =
        PT_AT(X, a, b, c, d, e, f, g, h) * 2 + PT_AT(Y, a + b + c + d + e + f + g + h);
}

/** Turns a row round by way of scratch, and adds the largest difference of neighbours. */
POLYTILE_KERNEL(turn, (i), (const int32_t, A, 2), (int32_t, w, 2), (double, most, 1),
                (int32_t, B, 2)) {
    const int64_t last = PT_LAST(A, 1);
    PT_AT(most, i) = 0;
    for (int64_t k = 0; k <= last; k++) {
        PT_AT(w, i, k + 1) = PT_AT(A, i, last - k);
        if (k > 0 && PT_AT(w, i, k + 1) - PT_AT(w, i, k) > PT_AT(most, i))
            PT_AT(most, i) = PT_AT(w, i, k + 1) - PT_AT(w, i, k);
    }
    for (int64_t k = 0; k <= last; k++)
        PT_AT(B, i, k) = PT_AT(w, i, k + 1) + (int32_t)PT_AT(most, i);
}

/** Sums what is in front of a diagonal, by way of as much scratch. */
POLYTILE_KERNEL(front, (i, j), (const double, L, 2), (double, w, 3), (double, S, 2)) {
    double sum = 0;
    for (int64_t k = 0; k <= j; k++)
        PT_AT(w, j, i, k) = PT_AT(L, i, k);
    for (int64_t k = j; k >= 0; k--)
        sum += PT_AT(w, j, i, k);
    PT_AT(S, i, j) = sum;
}

#endif
