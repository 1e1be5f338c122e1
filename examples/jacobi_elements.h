#ifndef EXAMPLES_JACOBI_ELEMENTS_H
#define EXAMPLES_JACOBI_ELEMENTS_H

#include "common/stencil_steps.h"

extern const stencil_elements jacobi_elements_f32;
extern const stencil_elements jacobi_elements_f64;

#endif
