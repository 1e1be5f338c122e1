#ifndef EXAMPLES_ADD_ELEMENTS_H
#define EXAMPLES_ADD_ELEMENTS_H

#include <stdint.h>

/** The functions of an element type for the examples of addition; n elements, of any shape. */
typedef struct add_elements {
    /** Fill the k-th summand with small whole numbers. */
    void (*fill)(void *data, int64_t n, int k);

    /** Return the largest difference of z from x + y. */
    double (*compare)(const void *x, const void *y, const void *z, int64_t n);
} add_elements;

extern const add_elements add_elements_f32;
extern const add_elements add_elements_f64;

#endif
