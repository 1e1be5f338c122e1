#ifndef EXAMPLES_WALSH_ELEMENTS_H
#define EXAMPLES_WALSH_ELEMENTS_H

#include <polytile/implementation.h>

/** What walsh needs to know of an element type. Vectors have a power of two of elements. */
typedef struct walsh_elements {
    const polytile_implementation *(*columns)(void);
    const polytile_implementation *(*rows)(void);
    const polytile_implementation *(*near)(void);

    /** Fill a vector with small whole numbers, so few bits of which that sums stay exact. */
    void (*fill)(void *x, int64_t n);

    /** Transform a vector with plain loops, stage by stage. */
    void (*transform)(void *x, int64_t n);

    /** Return the largest difference of two elements. */
    double (*compare)(const void *x, const void *expected, int64_t n);
} walsh_elements;

extern const walsh_elements walsh_elements_f32;
extern const walsh_elements walsh_elements_f64;

#endif
