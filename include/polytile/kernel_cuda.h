#ifndef POLYTILE_KERNEL_CUDA_H
#define POLYTILE_KERNEL_CUDA_H

/*
 * Kernel bodies as CUDA kernels; included by kernel.h where nvcc compiles.
 *
 * A thread finds its indices and runs the body. There are two kernels: one for views whose last
 * dimension is contiguous and whose strides and indices fit 32 bits, one for all others. The
 * library launches one of them; a choice within one kernel would delay each thread's first load.
 */
#include <polytile/cuda.h>

#define PT_DEVICE_FUNCTION static __host__ __device__ __forceinline__

#define PT_CUDA_FUNCTION(kernel, indices, ...)                                                     \
    static __global__ void kernel##_cuda(                                                          \
        const polytile_domain pt_threads PT_EACH(PT_CUDA_PARAMETER, kernel, __VA_ARGS__)) {        \
        PT_APPLY(PT_THREAD, (pt_threads, PT_UNPACK indices));                                      \
        PT_EACH(PT_CUDA_DEFINE_STRIDED_VIEW, kernel, __VA_ARGS__)                                  \
        kernel##_thread(PT_UNPACK indices PT_EACH(PT_VIEW_ARGUMENT, kernel, __VA_ARGS__));         \
    }                                                                                              \
    static __global__ void kernel##_cuda_contiguous(                                               \
        const polytile_domain pt_threads PT_EACH(PT_CUDA_PARAMETER, kernel, __VA_ARGS__)) {        \
        const pt_near_domain pt_near = pt_near_threads(pt_threads);                                \
        PT_APPLY(PT_THREAD, (pt_near, PT_UNPACK indices));                                         \
        PT_EACH(PT_CUDA_DEFINE_CONTIGUOUS_VIEW, kernel, __VA_ARGS__)                               \
        kernel##_thread(PT_UNPACK indices PT_EACH(PT_VIEW_ARGUMENT, kernel, __VA_ARGS__));         \
    }

#define PT_CUDA_ADDRESSES(kernel)                                                                  \
    (const void *)kernel##_cuda, (const void *)kernel##_cuda_contiguous

/* Turn a view, the tuple (T, A, n_dims), into what each place needs. */
#define PT_CUDA_PARAMETER(kernel, k, view) PT_APPLY(PT_CUDA_PARAMETER_, (PT_UNPACK view))
#define PT_CUDA_PARAMETER_(T, A, n_dims)   , const polytile_view pt_view_##A

#define PT_CUDA_DEFINE_CONTIGUOUS_VIEW(kernel, k, view)                                            \
    PT_APPLY(PT_CUDA_DEFINE_NEAR_VIEW, (kernel, PT_UNPACK view))
#define PT_CUDA_DEFINE_STRIDED_VIEW(kernel, k, view)                                               \
    PT_APPLY(PT_CUDA_DEFINE_VIEW, (kernel, PT_LAST_STRIDE, PT_UNPACK view))
#define PT_CUDA_DEFINE_VIEW(kernel, LAST, T, A, n_dims)                                            \
    const kernel##_##A##_view A = PT_VIEW_OF(T, pt_view_##A, n_dims, LAST);
#define PT_CUDA_DEFINE_NEAR_VIEW(kernel, T, A, n_dims)                                             \
    const polytile_view pt_near_##A = pt_near_view(pt_view_##A);                                   \
    const kernel##_##A##_view A = PT_VIEW_OF(T, pt_near_##A, n_dims, PT_LAST_UNIT);

#endif
