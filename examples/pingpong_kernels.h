#ifndef EXAMPLES_PINGPONG_KERNELS_H
#define EXAMPLES_PINGPONG_KERNELS_H

#include <polytile/implementation.h>

#define PINGPONG_DECLARATION "pingpong[s](i64 rounds): in A[s, :]; inout B[s, :]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *pingpong_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
