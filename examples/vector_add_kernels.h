#ifndef EXAMPLES_VECTOR_ADD_KERNELS_H
#define EXAMPLES_VECTOR_ADD_KERNELS_H

#include <polytile/implementation.h>

#define ADD_DECLARATION "add[i]: in x[i], y[i]; out z[i]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *add_f32_implementation(void);
const polytile_implementation *add_f64_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
