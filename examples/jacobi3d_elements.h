#ifndef EXAMPLES_JACOBI3D_ELEMENTS_H
#define EXAMPLES_JACOBI3D_ELEMENTS_H

#include "common/stencil_steps.h"

extern const stencil_elements jacobi3d_elements_f32;
extern const stencil_elements jacobi3d_elements_f64;

#endif
