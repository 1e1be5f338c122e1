#ifndef POLYTILE_BASE_CHECKED_H
#define POLYTILE_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* 64-bit arithmetic that says when it overflows: a function named so returns true on overflow and
 * then leaves *result alone. */

static inline bool pti_add_overflows(int64_t a, int64_t b, int64_t *result) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) || (*result = sum, false);
}

static inline bool pti_sub_overflows(int64_t a, int64_t b, int64_t *result) {
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) || (*result = difference, false);
}

static inline bool pti_mul_overflows(int64_t a, int64_t b, int64_t *result) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || (*result = product, false);
}

/** Return the sum of two numbers that are not negative; INT64_MAX if it exceeds 64 bits. */
static inline int64_t pti_add_saturated(int64_t a, int64_t b) {
    int64_t sum;
    return pti_add_overflows(a, b, &sum) ? INT64_MAX : sum;
}

/** Return the product of two numbers that are not negative; INT64_MAX if it exceeds 64 bits. */
static inline int64_t pti_mul_saturated(int64_t a, int64_t b) {
    int64_t product;
    return pti_mul_overflows(a, b, &product) ? INT64_MAX : product;
}

/** Return a product modulo 2^64, as addresses are counted, in -2^63 .. 2^63 - 1. */
static inline int64_t pti_mul_wrapped(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline int64_t pti_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t pti_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static inline int64_t pti_abs(int64_t a) {
    return a < 0 ? -a : a;
}

/** Return a / b rounded up, for a >= 0 and b > 0. */
static inline int64_t pti_ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

/** Return a / b rounded down, for b > 0. */
static inline int64_t pti_floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/** Return a modulo b in 0 .. b - 1, for b > 0. */
static inline int64_t pti_floor_mod(int64_t a, int64_t b) {
    return a % b + (a % b < 0 ? b : 0);
}

/** Return the greatest common divisor of |a| and |b|; gcd(0, b) = |b|. */
static inline int64_t pti_gcd(int64_t a, int64_t b) {
    a = pti_abs(a);
    b = pti_abs(b);
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
