#ifndef EXAMPLES_CG_PLAIN_H
#define EXAMPLES_CG_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

/** A symmetric matrix in compressed rows, and a vector. */
typedef struct cg_problem {
    int64_t n;
    const int64_t *P;
    const int32_t *K;
    const double *V;
    const double *b;
} cg_problem;

/** Find the same x by plain loops. False when memory runs out. */
bool cg_solve_plainly(const cg_problem *of, int64_t n_iterations, double *x);

#endif
