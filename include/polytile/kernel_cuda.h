#ifndef POLYTILE_KERNEL_CUDA_H
#define POLYTILE_KERNEL_CUDA_H

/*
 * Kernel bodies as CUDA kernels; included by kernel.h where nvcc compiles.
 *
 * A thread finds its indices and runs the body. There are four kernels: one for views whose last
 * dimension is contiguous and whose strides and indices fit 32 bits, where no index is beyond the
 * ends of its array; one for all other views; one for arrays in pieces; and one for views like the
 * first's in which a thread runs several neighbours. The library launches one of them; a choice
 * within one kernel would delay each thread's first load.
 */
#include <polytile/cuda.h>
#include <polytile/kernel_coarse.h>
#include <polytile/kernel_tiles.h>

/* Whoever compiles bodies at run time finds their kernels by name. */
#ifndef PT_CUDA_LINKAGE
#define PT_CUDA_LINKAGE static
#endif

#define PT_DEVICE_FUNCTION static __host__ __device__ __forceinline__

#define PT_CUDA_FUNCTION(kernel, indices, ...)                                                     \
    PT_CUDA_LINKAGE __global__ void kernel##_cuda(const polytile_domain pt_threads PT_EACH(        \
        PT_CUDA_VIEW, kernel, __VA_ARGS__) PT_EACH(PT_CUDA_PARAMETER, kernel, __VA_ARGS__)) {      \
        PT_APPLY(PT_THREAD, (pt_threads, PT_UNPACK indices));                                      \
        PT_EACH(PT_CUDA_DEFINE_STRIDED, kernel, __VA_ARGS__)                                       \
        kernel##_thread(PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));                  \
    }                                                                                              \
    PT_CUDA_LINKAGE __global__ void kernel##_cuda_contiguous(                                      \
        const polytile_domain pt_threads PT_EACH(PT_CUDA_VIEW, kernel, __VA_ARGS__)                \
            PT_EACH(PT_CUDA_PARAMETER, kernel, __VA_ARGS__)) {                                     \
        const pt_near_domain pt_near = pt_near_threads(pt_threads);                                \
        PT_APPLY(PT_THREAD, (pt_near, PT_UNPACK indices));                                         \
        PT_EACH(PT_CUDA_DEFINE_CONTIGUOUS, kernel, __VA_ARGS__)                                    \
        kernel##_thread(PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));                  \
    }                                                                                              \
    PT_CUDA_LINKAGE __global__ void kernel##_cuda_pieces(                                          \
        const polytile_domain pt_threads PT_EACH(PT_CUDA_VIEW, kernel, __VA_ARGS__)                \
            PT_EACH(PT_CUDA_PARAMETER, kernel, __VA_ARGS__),                                       \
        const polytile_pieces pt_pieces) {                                                         \
        PT_APPLY(PT_THREAD, (pt_threads, PT_UNPACK indices));                                      \
        PT_EACH(PT_CUDA_DEFINE_PIECES, kernel, __VA_ARGS__)                                        \
        kernel##_thread(PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));                  \
    }                                                                                              \
    PT_CUDA_COARSE_FUNCTION(kernel, indices, __VA_ARGS__)

#define PT_CUDA_PIECES(kernel) (const void *)kernel##_cuda_pieces
#define PT_CUDA_ADDRESSES(kernel)                                                                  \
    (const void *)kernel##_cuda, (const void *)kernel##_cuda_contiguous

/* The body of a team kernel: a slot is a thread block, and its rank the number of the block. */
#define PT_TEAM_CUDA_FUNCTION(kernel, indices, ...)                                                \
    PT_CUDA_LINKAGE __global__ void kernel##_cuda(                                                 \
        pt_slot *const pt_slots,                                                                   \
        const polytile_domain pt_threads PT_EACH(PT_CUDA_VIEW, kernel, __VA_ARGS__)                \
            PT_EACH(PT_CUDA_PARAMETER, kernel, __VA_ARGS__)) {                                     \
        PT_DEFINE_TEAM(&pt_slots[blockIdx.x]);                                                     \
        uint32_t pt_z = blockIdx.x;                                                                \
        PT_APPLY(PT_SLOT, (pt_threads, PT_UNPACK indices));                                        \
        PT_EACH(PT_CUDA_DEFINE_STRIDED, kernel, __VA_ARGS__)                                       \
        kernel##_body(pt_team, PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));           \
        PT_LEAVE(pt_team);                                                                         \
    }
#define PT_TEAM_CUDA_ADDRESS(kernel) (const void *)kernel##_cuda

/* What each place needs of a parameter, the tuple (T, a), and of a view, (T, A, n_dims). A kernel
 * takes all views before all parameters. */
#define PT_CUDA_VIEW_2(kernel, T, a)
#define PT_CUDA_VIEW_3(kernel, T, A, n_dims) , const polytile_view pt_view_##A

#define PT_CUDA_PARAMETER_2(kernel, T, a) , T a
#define PT_CUDA_PARAMETER_3(kernel, T, A, n_dims)

#define PT_CUDA_DEFINE_STRIDED_2(kernel, T, a)
#define PT_CUDA_DEFINE_STRIDED_3(kernel, T, A, n_dims)                                             \
    const kernel##_##A##_view A = PT_VIEW_OF(T, pt_view_##A, n_dims, PT_LAST_STRIDE, 0, 0);

#define PT_CUDA_DEFINE_CONTIGUOUS_2(kernel, T, a)
#define PT_CUDA_DEFINE_CONTIGUOUS_3(kernel, T, A, n_dims)                                          \
    const polytile_view pt_near_##A = pt_near_view(pt_view_##A);                                   \
    const kernel##_##A##_view A = PT_VIEW_WITH(T, pt_near_##A, n_dims, PT_LAST_UNIT, 0, 0, 0);

#define PT_CUDA_DEFINE_PIECES_2(kernel, T, a)
#define PT_CUDA_DEFINE_PIECES_3(kernel, T, A, n_dims)                                              \
    const kernel##_##A##_view A =                                                                  \
        PT_VIEW_OF(T, pt_view_##A, n_dims, PT_LAST_STRIDE,                                         \
                   pt_pieces.piece + pt_view_##A.first_piece, pt_view_##A.n_pieces);

#endif
