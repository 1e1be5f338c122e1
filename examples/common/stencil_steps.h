#ifndef EXAMPLES_STENCIL_STEPS_H
#define EXAMPLES_STENCIL_STEPS_H

#include "session.h"

/* Time steps of a stencil, in any number of dimensions: what the stencil examples share. */

/** What is needed to know of an element type. Fields are in C order. */
typedef struct stencil_elements {
    const polytile_implementation *(*update)(void);
    const polytile_implementation *(*copy)(void);

    /** The field before the first step, where no file has it. */
    void (*fill)(void *field, const int64_t *extent);

    /** A step over the interior, as a plain loop. */
    void (*step)(const void *from, void *to, const int64_t *extent);
} stencil_elements;

/** A stencil that reads one element around it along each dimension. */
typedef struct stencil {
    int n_dims;
    const char *update; /* its declaration */
    const char *copy;   /* the declaration of an element's copy */
    const stencil_elements *f32;
    const stencil_elements *f64;
} stencil;

/** The body of an example: plan the steps together, and unless only planning run and check them. */
polytile_status stencil_steps(session *s, const stencil *of, result *r);

#endif
