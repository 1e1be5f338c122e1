#ifndef OUTSIDE_KERNELS_H
#define OUTSIDE_KERNELS_H

#include <polytile/implementation.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const polytile_implementation *const smooth;
extern const polytile_implementation *const total;
extern const polytile_implementation *const shift;

#ifdef __cplusplus
}
#endif

#endif
