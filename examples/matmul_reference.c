#include "matmul_reference.h"

#include "common/compare.h"

#include <string.h>

/* In elements: a strip of expected rows and a part of B that stay in the caches. */
enum { STRIP_ROWS = 48, STRIP_COLUMNS = 256, PIECE = 128 };

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define WIDER_WHERE_POSSIBLE __attribute__((target_clones("arch=haswell", "default")))
#else
#define WIDER_WHERE_POSSIBLE
#endif

/** Add the sum over four k of a[k] * b[k][j] to row[j], for j < width; b's rows lie n apart. */
WIDER_WHERE_POSSIBLE
static void add_four(float *restrict row, const float *restrict a, const float *restrict b,
                     int64_t n, int64_t width) {
    const float *b1 = b + n, *b2 = b1 + n, *b3 = b2 + n;
    for (int64_t j = 0; j < width; ++j)
        row[j] += (a[0] * b[j] + a[1] * b1[j]) + (a[2] * b2[j] + a[3] * b3[j]);
}

/** Add the sum over k0 <= k < k1 of a[k] * b[k][j] to row[j], for j < width. */
static void add_products(float *row, const float *a, const float *b, int64_t n, int64_t k0,
                         int64_t k1, int64_t width) {
    int64_t k = k0;
    for (; k + 4 <= k1; k += 4)
        add_four(row, a + k, b + k * n, n, width);
    for (; k < k1; ++k)
        for (int64_t j = 0; j < width; ++j)
            row[j] += a[k] * b[k * n + j];
}

/** Compare rows i0 .. i1 - 1 and columns j0 .. j1 - 1 of C, at most a strip. */
static double compare_strip(const float *a, const float *b, const float *c, int64_t n, int64_t i0,
                            int64_t i1, int64_t j0, int64_t j1) {
    float expected[STRIP_ROWS][STRIP_COLUMNS];
    double worst = 0.0;
    memset(expected, 0, sizeof(expected));
    for (int64_t k = 0; k < n; k += PIECE)
        for (int64_t i = i0; i < i1; ++i)
            add_products(expected[i - i0], a + i * n, b + j0, n, k, k + PIECE < n ? k + PIECE : n,
                         j1 - j0);
    for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j)
            worst = fmax(worst, difference(c[i * n + j], expected[i - i0][j - j0]));
    return worst;
}

double matmul_compare(const float *a, const float *b, const float *c, int64_t n) {
    double worst = 0.0;
#pragma omp parallel for collapse(2) schedule(dynamic) reduction(max : worst)
    for (int64_t i = 0; i < n; i += STRIP_ROWS)
        for (int64_t j = 0; j < n; j += STRIP_COLUMNS) {
            int64_t i1 = i + STRIP_ROWS < n ? i + STRIP_ROWS : n;
            int64_t j1 = j + STRIP_COLUMNS < n ? j + STRIP_COLUMNS : n;
            worst = fmax(worst, compare_strip(a, b, c, n, i, i1, j, j1));
        }
    return worst;
}

static double largest(const float *m, int64_t n) {
    double largest_size = 0.0;
    for (int64_t x = 0; x < n * n; ++x)
        largest_size = fmax(largest_size, fabs((double)m[x]));
    return largest_size;
}

double matmul_rounding_bound(const float *a, const float *b, int64_t n) {
    return 2.0 * (double)n * FLT_EPSILON * (double)n * largest(a, n) * largest(b, n);
}
