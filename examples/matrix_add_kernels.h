#ifndef EXAMPLES_MATRIX_ADD_KERNELS_H
#define EXAMPLES_MATRIX_ADD_KERNELS_H

#include <polytile/implementation.h>

#define MATRIX_ADD_DECLARATION "matrix_add[i, j]: in A[i, j], B[i, j]; out C[i, j]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *matrix_add_f32_implementation(void);
const polytile_implementation *matrix_add_f64_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
