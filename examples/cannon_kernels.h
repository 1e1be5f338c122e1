#ifndef EXAMPLES_CANNON_KERNELS_H
#define EXAMPLES_CANNON_KERNELS_H

#include <polytile/implementation.h>

#define CANNON_DECLARATION "cannon[s](i32 q): inout A[s, :, :], B[s, :, :], C[s, :, :]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *cannon_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
