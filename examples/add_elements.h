#ifndef EXAMPLES_ADD_ELEMENTS_H
#define EXAMPLES_ADD_ELEMENTS_H

#include <stdint.h>

/** What the examples of addition need to know of an element type; n elements, of any shape. */
typedef struct add_elements {
    /** Fill the k-th summand with small whole numbers. */
    void (*fill)(void *data, int64_t n, int k);

    /** The largest difference of z from x + y. */
    double (*compare)(const void *x, const void *y, const void *z, int64_t n);
} add_elements;

extern const add_elements add_elements_f32;
extern const add_elements add_elements_f64;

#endif
