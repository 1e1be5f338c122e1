#ifndef POLYTILE_TESTS_LAUNCH_CUDA_KERNELS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_KERNELS_H

#include <polytile/implementation.h>

/* The bodies of launch/kernels.h and of reductions.h as nvcc compiles them; and transpose_by_hand
 * and axpy_by_hand, whose CUDA kernels are written by hand; the second has nothing for the host. */

#ifdef __cplusplus
extern "C" {
#endif

/** The implementation for host and CUDA of a body, by its name; NULL if there is none, and for
 * every name where nvcc is missing. */
const polytile_implementation *cuda_kernel_of(const char *name);

/** The same of the bodies of queue/program_kernels.h. */
const polytile_implementation *cuda_program_kernel_of(const char *name);

#ifdef __cplusplus
}
#endif

#endif
