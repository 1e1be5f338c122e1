#ifndef POLYTILE_TESTS_QUEUE_PROGRAM_KERNELS_H
#define POLYTILE_TESTS_QUEUE_PROGRAM_KERNELS_H

#include <polytile/kernel.h>

/* The bodies of random programs, on unsigned numbers, which wrap around alike everywhere. */

POLYTILE_KERNEL(blend, (i), (const uint32_t, x, 1), (const uint32_t, y, 1), (uint32_t, z, 1)) {
    PT_AT(z, i) = 3 * PT_AT(x, i) + PT_AT(y, i) + 1;
}

POLYTILE_KERNEL(grow, (i), (uint32_t, x, 1)) {
    PT_AT(x, i) = 5 * PT_AT(x, i) + (uint32_t)i;
}

POLYTILE_KERNEL(smooth, (i), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i - 1) + 2 * PT_AT(x, i) + PT_AT(x, i + 1);
}

POLYTILE_KERNEL(scatter, (i), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_AT(y, 3 * i + 1) = PT_AT(x, i) + 7;
}

POLYTILE_KERNEL(star, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) =
        PT_AT(A, i - 1, j) + 2 * PT_AT(A, i + 1, j) + PT_AT(A, i, j - 1) + 3 * PT_AT(A, i, j + 1);
}

POLYTILE_KERNEL(turn, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, j, i) = PT_AT(A, i, j) + 1;
}

POLYTILE_KERNEL(outer, (i, j), (const uint32_t, x, 1), (const uint32_t, y, 1), (uint32_t, A, 2)) {
    PT_AT(A, i, j) = PT_AT(x, i) * PT_AT(y, j) + 2;
}

POLYTILE_KERNEL(product, (i, j), (const uint32_t, A, 2), (const uint32_t, B, 2), (uint32_t, C, 2)) {
    uint32_t sum = 0;
    for (int64_t k = PT_FIRST(A, 1); k <= PT_LAST(A, 1); k++)
        sum += PT_AT(A, i, k) * PT_AT(B, k, j);
    PT_AT(C, i, j) = sum;
}

POLYTILE_KERNEL(gather, (i, j, k), (const uint32_t, A, 2), (const uint32_t, B, 2),
                (uint32_t, C, 2)) {
    PT_SUM(PT_AT(C, i, j), PT_AT(A, i, k) * PT_AT(B, k, j));
}

POLYTILE_KERNEL(rows, (i, j), (const uint32_t, A, 2), (uint32_t, x, 1)) {
    PT_SUM(PT_AT(x, i), PT_AT(A, i, j));
}

POLYTILE_KERNEL(triangle, (i), (const uint32_t, A, 2), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    uint32_t sum = 1;
    for (int64_t j = 0; j <= i; j++)
        sum += PT_AT(A, i, j) * PT_AT(x, j);
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(swap, (i, j), (uint32_t, A, 2), (uint32_t, B, 2)) {
    const uint32_t kept = PT_AT(A, i, j);
    PT_AT(A, i, j) = PT_AT(B, i, j);
    PT_AT(B, i, j) = kept + 1;
}

POLYTILE_KERNEL(copy1, (i), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i);
}

POLYTILE_KERNEL(copy2, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = PT_AT(A, i, j);
}

/* Bodies with parameters, which some take in another order than declared, and one not all. */

POLYTILE_KERNEL(saxpy, (i), (uint32_t, a), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_AT(y, i) += a * PT_AT(x, i);
}

POLYTILE_KERNEL(weigh, (i, j), (const uint32_t, A, 2), (double, w), (uint32_t, B, 2), (int16_t, c),
                (float, v)) {
    PT_AT(B, i, j) = (uint32_t)(int64_t)(w * 4) * PT_AT(A, i - 1, j) +
                     (uint32_t)(int64_t)(v * 8) * PT_AT(A, i + 1, j) + (uint32_t)c;
}

POLYTILE_KERNEL(shift, (i), (const uint32_t, x, 1), (uint32_t, y, 1), (uint64_t, b), (int8_t, s)) {
    PT_AT(y, i) = PT_AT(x, i + s) + (uint32_t)(b >> 32) + (uint32_t)b;
}

POLYTILE_KERNEL(columns, (i, j), (uint8_t, w), (const uint32_t, A, 2), (uint32_t, x, 1)) {
    PT_SUM(PT_AT(x, j), w * PT_AT(A, i, j));
}

POLYTILE_KERNEL(plus, (i, j), (uint32_t, A, 2), (int64_t, a)) {
    PT_AT(A, i, j) = PT_AT(A, i, j) * 3 + (uint32_t)a;
}

/** X-macro: the names of all of them. */
#define PROGRAM_BODIES(X)                                                                          \
    X(blend)                                                                                       \
    X(grow)                                                                                        \
    X(smooth)                                                                                      \
    X(scatter)                                                                                     \
    X(star)                                                                                        \
    X(turn)                                                                                        \
    X(outer)                                                                                       \
    X(product)                                                                                     \
    X(gather)                                                                                      \
    X(rows)                                                                                        \
    X(triangle)                                                                                    \
    X(swap)                                                                                        \
    X(copy1)                                                                                       \
    X(copy2)                                                                                       \
    X(saxpy)                                                                                       \
    X(weigh)                                                                                       \
    X(shift)                                                                                       \
    X(columns)                                                                                     \
    X(plus)

#endif
