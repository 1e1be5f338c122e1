#ifndef EXAMPLES_SPMV_ELEMENTS_H
#define EXAMPLES_SPMV_ELEMENTS_H

#include <polytile/implementation.h>

/** A matrix in compressed rows and two vectors, of one type of elements. */
typedef struct spmv_problem {
    int64_t n_rows;
    const int64_t *P;
    const int32_t *K;
    const void *V;
    const void *x;
    const void *y;
} spmv_problem;

/** What spmv needs to know of an element type. */
typedef struct spmv_elements {
    const polytile_implementation *(*rows)(void);
    const polytile_implementation *(*entries)(void);

    /** Fill a vector with small whole numbers, so few bits of which that sums stay exact. */
    void (*fill)(void *x, int64_t n);

    /** Return the largest difference of y from a plain loop; *bound: how far sums in another order
     * may be off. */
    double (*compare)(const spmv_problem *of, double *bound);
} spmv_elements;

extern const spmv_elements spmv_elements_f32;
extern const spmv_elements spmv_elements_f64;

#endif
