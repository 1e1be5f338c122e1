/* Conjugate gradients by plain loops, to check those of the library. */
#include "cg_plain.h"

#include "cg_ratio.h"

#include <stdlib.h>
#include <string.h>

/** One row of A p. */
static double multiply_row(const cg_problem *of, int64_t i, const double *p) {
    double sum = 0;
    for (int64_t e = of->P[i]; e < of->P[i + 1]; ++e)
        sum += of->V[e] * p[of->K[e]];
    return sum;
}

static double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/** r, p and q lie one after the other. */
static void iterate(const cg_problem *of, int64_t n_iterations, double *x, double *r, double *p,
                    double *q) {
    double rr = dot(of->n, r, r);
    for (int64_t k = 0; k < n_iterations; ++k) {
#pragma omp parallel for
        for (int64_t i = 0; i < of->n; ++i)
            q[i] = multiply_row(of, i, p);
        const double step = CG_RATIO(rr, dot(of->n, p, q)), before = rr;
#pragma omp parallel for
        for (int64_t i = 0; i < of->n; ++i) {
            x[i] += step * p[i];
            r[i] -= step * q[i];
        }
        rr = dot(of->n, r, r);
#pragma omp parallel for
        for (int64_t i = 0; i < of->n; ++i)
            p[i] = r[i] + CG_RATIO(rr, before) * p[i];
    }
}

bool cg_solve_plainly(const cg_problem *of, int64_t n_iterations, double *x) {
    const size_t n_bytes = (size_t)of->n * sizeof(double);
    double *vectors = malloc(3 * n_bytes);
    if (vectors == NULL)
        return false;
    memset(x, 0, n_bytes);
    memcpy(vectors, of->b, n_bytes);
    memcpy(vectors + of->n, of->b, n_bytes);
    iterate(of, n_iterations, x, vectors, vectors + of->n, vectors + 2 * of->n);
    free(vectors);
    return true;
}
