#ifndef EXAMPLES_JACOBI_ELEMENTS_H
#define EXAMPLES_JACOBI_ELEMENTS_H

#include <polytile/implementation.h>

/* What the stencil example needs to know of an element type. Fields are rows x columns, C order. */
typedef struct jacobi_elements {
    const polytile_implementation *(*update)(void);
    const polytile_implementation *(*copy)(void);

    /** Fill a field with the plate. */
    void (*fill)(void *field, int64_t rows, int64_t columns);

    /** Copy the outermost rows and columns, which no step changes. */
    void (*copy_border)(void *to, const void *from, int64_t rows, int64_t columns);

    /** Run steps with a plain loop, from one field to the other and back; returns the last. */
    void *(*run_plain)(void *first, void *second, int64_t rows, int64_t columns, int64_t steps);

    /** The largest difference of two elements. */
    double (*compare)(const void *field, const void *expected, int64_t n);
} jacobi_elements;

extern const jacobi_elements jacobi_elements_f32;
extern const jacobi_elements jacobi_elements_f64;

#endif
