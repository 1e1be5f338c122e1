#ifndef POLYTILE_CUDA_H
#define POLYTILE_CUDA_H

/**
 * CUDA kernels written by hand, for files that nvcc compiles. A body that POLYTILE_KERNEL() of
 * kernel.h can express needs none of this.
 *
 *     __global__ void scale(polytile_domain threads, polytile_view x_view, float a) {
 *         PT_THREAD(threads, i);
 *         PT_VIEW(float, x, 1, x_view);
 *         PT_AT(x, i) *= a;
 *     }
 *
 *     static const polytile_implementation scale_kernel = polytile_implementation_from_cuda(scale);
 *
 * Shapes  A kernel takes the box of threads, one view an array, and after them the value of each
 *         parameter, by value, in the order in which the declaration first names the arrays and
 *         the parameters; nothing else, and no dynamic shared memory.
 *         The library chooses grid and block: of the thread's indices the last runs along x, the
 *         one before along y, and all others together along z, the last of them fastest; along what
 *         has no index there is one thread, along each axis fewer than 2^32. A grid has threads
 *         outside the box, which PT_THREAD ends. A large box may be run by several launches, each
 *         with a part of it.
 * Views   as kernel.h says: PT_VIEW, PT_CONTIGUOUS_VIEW, PT_AT, PT_FIRST, PT_LAST, PT_EXTENT and
 *         its like; and PT_SUM, PT_PROD, PT_MIN, PT_MAX, which are atomic. Index the members of
 *         `threads` and of views with constants only, as these macros do: others move them to slow
 *         local memory.
 * Stream  A kernel is one sub-kernel of many. It must not count on another launch being done, nor
 *         write anything but the elements that the declaration says.
 */
#ifndef __CUDACC__
#error "polytile/cuda.h is for CUDA C++: compile this file with nvcc"
#endif

#include <polytile/kernel_combine.h>
#include <polytile/kernel_view.h>

/**
 * Declare the calling thread's indices, one to eight in the declaration's order, as constants
 * `const int64_t i, j`. A thread outside the box returns from its kernel (whose result is void). Up
 * to three indices take no division; each further one takes one of 32 bits.
 */
#define PT_THREAD(threads, ...) PT_CAT(PT_THREAD_, PT_COUNT(__VA_ARGS__))(threads, __VA_ARGS__)

/** Return an implementation with a CUDA kernel alone; more can be added. The compiler refuses
 * kernels with other parameters than the library passes. */
template <class... Parameters>
polytile_implementation polytile_implementation_from_cuda(void (*kernel)(polytile_domain,
                                                                         Parameters...));

#include <polytile/kernel_thread.h>

#endif
