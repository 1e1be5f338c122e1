#ifndef POLYTILE_KERNEL_COARSE_H
#define POLYTILE_KERNEL_COARSE_H

/*
 * Thread coarsening: a CUDA kernel each of whose threads runs the body for POLYTILE_COARSENING
 * neighbours along the index before the last; included by kernel_cuda.h.
 *
 * Neighbours load a common element once: the loop over them is unrolled without a branch, indices
 * are counted from one of 64 bits, so that equal addresses look equal, and the views' memory comes
 * by pointers that do not alias. The last threads may have fewer neighbours and go through them one
 * by one.
 *
 * The kernel takes what kernel_cuda_contiguous takes, and after it the origin of each view. The
 * library launches it only where nothing that a view writes is in another view's memory. A body of
 * one index has none: threads of a warp would read apart.
 */
#define PT_CUDA_COARSE_FUNCTION(kernel, indices, ...)                                              \
    PT_CAT(PT_CUDA_COARSE_FUNCTION_, PT_COUNT indices)(kernel, indices, __VA_ARGS__)
#define PT_CUDA_COARSE(kernel, n_indices) PT_CAT(PT_CUDA_COARSE_, n_indices)(kernel)

#define PT_CUDA_COARSE_1(kernel) 0, 0
#define PT_CUDA_COARSE_2(kernel) (const void *)kernel##_cuda_coarse, POLYTILE_COARSENING
#define PT_CUDA_COARSE_3(kernel) PT_CUDA_COARSE_2(kernel)
#define PT_CUDA_COARSE_4(kernel) PT_CUDA_COARSE_2(kernel)
#define PT_CUDA_COARSE_5(kernel) PT_CUDA_COARSE_2(kernel)
#define PT_CUDA_COARSE_6(kernel) PT_CUDA_COARSE_2(kernel)
#define PT_CUDA_COARSE_7(kernel) PT_CUDA_COARSE_2(kernel)
#define PT_CUDA_COARSE_8(kernel) PT_CUDA_COARSE_2(kernel)

#define PT_CUDA_COARSE_FUNCTION_1(kernel, indices, ...)
#define PT_CUDA_COARSE_FUNCTION_2(kernel, indices, ...)                                            \
    PT_CUDA_LINKAGE __global__ void kernel##_cuda_coarse(                                          \
        const polytile_domain pt_threads PT_EACH(PT_CUDA_VIEW, kernel, __VA_ARGS__)                \
            PT_EACH(PT_CUDA_PARAMETER, kernel, __VA_ARGS__)                                        \
                PT_EACH(PT_CUDA_ORIGIN, kernel, __VA_ARGS__)) {                                    \
        enum { pt_along = (PT_COUNT indices)-2 };                                                  \
        const pt_near_domain pt_near = pt_near_threads(pt_threads);                                \
        const pt_near_domain pt_groups = pt_groups_of(pt_near, pt_along);                          \
        PT_APPLY(PT_GROUP_THREAD, (pt_groups, PT_UNPACK indices));                                 \
        PT_EACH(PT_CUDA_DEFINE_COARSE, kernel, __VA_ARGS__)                                        \
        const int64_t pt_first = pt_first_of_group(pt_near.range[pt_along], pt_group);             \
        const int pt_n = pt_neighbours_from(pt_near.range[pt_along], pt_first);                    \
        if (pt_n >= POLYTILE_COARSENING) {                                                         \
            PT_UNROLL for (int pt_k = 0; pt_k < POLYTILE_COARSENING; pt_k++) {                     \
                PT_APPLY(PT_GROUP_MEMBER, (pt_first + pt_k, PT_UNPACK indices));                   \
                kernel##_thread(PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));          \
            }                                                                                      \
        } else {                                                                                   \
            PT_DONT_UNROLL for (int pt_k = 0; pt_k < pt_n; pt_k++) {                               \
                PT_APPLY(PT_GROUP_MEMBER, (pt_first + pt_k, PT_UNPACK indices));                   \
                kernel##_thread(PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));          \
            }                                                                                      \
        }                                                                                          \
    }
#define PT_CUDA_COARSE_FUNCTION_3 PT_CUDA_COARSE_FUNCTION_2
#define PT_CUDA_COARSE_FUNCTION_4 PT_CUDA_COARSE_FUNCTION_2
#define PT_CUDA_COARSE_FUNCTION_5 PT_CUDA_COARSE_FUNCTION_2
#define PT_CUDA_COARSE_FUNCTION_6 PT_CUDA_COARSE_FUNCTION_2
#define PT_CUDA_COARSE_FUNCTION_7 PT_CUDA_COARSE_FUNCTION_2
#define PT_CUDA_COARSE_FUNCTION_8 PT_CUDA_COARSE_FUNCTION_2

#ifdef __CUDA_ARCH__
#define PT_UNROLL      _Pragma("unroll")
#define PT_UNROLL_BY_8 _Pragma("unroll 8")
#define PT_DONT_UNROLL _Pragma("unroll 1")
#else
#define PT_UNROLL
#define PT_UNROLL_BY_8
#define PT_DONT_UNROLL
#endif

/* The thread's indices, with that of its group in place of the one before the last. */
#define PT_GROUP_THREAD(groups, ...)                                                               \
    PT_CAT(PT_GROUP_THREAD_, PT_COUNT(__VA_ARGS__))(groups, __VA_ARGS__)
#define PT_GROUP_THREAD_2(t, a, b)                   PT_THREAD(t, pt_group, b)
#define PT_GROUP_THREAD_3(t, a, b, c)                PT_THREAD(t, a, pt_group, c)
#define PT_GROUP_THREAD_4(t, a, b, c, d)             PT_THREAD(t, a, b, pt_group, d)
#define PT_GROUP_THREAD_5(t, a, b, c, d, e)          PT_THREAD(t, a, b, c, pt_group, e)
#define PT_GROUP_THREAD_6(t, a, b, c, d, e, f)       PT_THREAD(t, a, b, c, d, pt_group, f)
#define PT_GROUP_THREAD_7(t, a, b, c, d, e, f, g)    PT_THREAD(t, a, b, c, d, e, pt_group, g)
#define PT_GROUP_THREAD_8(t, a, b, c, d, e, f, g, h) PT_THREAD(t, a, b, c, d, e, f, pt_group, h)

/* The index before the last. */
#define PT_GROUP_MEMBER(value, ...)                                                                \
    const int64_t PT_CAT(PT_BEFORE_LAST_, PT_COUNT(__VA_ARGS__))(__VA_ARGS__) PT_UNUSED = value
#define PT_BEFORE_LAST_2(a, b)                   a
#define PT_BEFORE_LAST_3(a, b, c)                b
#define PT_BEFORE_LAST_4(a, b, c, d)             c
#define PT_BEFORE_LAST_5(a, b, c, d, e)          d
#define PT_BEFORE_LAST_6(a, b, c, d, e, f)       e
#define PT_BEFORE_LAST_7(a, b, c, d, e, f, g)    f
#define PT_BEFORE_LAST_8(a, b, c, d, e, f, g, h) g

/* What each place needs of a parameter, the tuple (T, a), and of a view, (T, A, n_dims). */
#define PT_CUDA_ORIGIN_2(kernel, T, a)
#define PT_CUDA_ORIGIN_3(kernel, T, A, n_dims) , T *__restrict__ const pt_origin_##A

#define PT_CUDA_DEFINE_COARSE_2(kernel, T, a)
#define PT_CUDA_DEFINE_COARSE_3(kernel, T, A, n_dims)                                              \
    const polytile_view pt_near_##A = pt_near_view(pt_view_##A);                                   \
    kernel##_##A##_view A = PT_VIEW_WITH(T, pt_near_##A, n_dims, PT_LAST_UNIT, 0, 0, 0);           \
    A.at = pt_origin_##A;

/* The same box with one place, from 0, for each group of neighbours along a dimension. */
__device__ __forceinline__ pt_near_domain pt_groups_of(const pt_near_domain &threads, int along) {
    pt_near_domain groups = threads;
    groups.range[along].lo = 0;
    groups.range[along].hi =
        (int32_t)((pt_extent_of(threads.range[along]) - 1) / POLYTILE_COARSENING);
    return groups;
}

/* The index of a group's first neighbour. */
__device__ __forceinline__ int64_t pt_first_of_group(const pt_near_range &range, int32_t group) {
    return (int64_t)((int32_t)((uint32_t)range.lo + (uint32_t)group * POLYTILE_COARSENING));
}

/* How many neighbours a group has from an index on, at most POLYTILE_COARSENING. */
__device__ __forceinline__ int pt_neighbours_from(const pt_near_range &range, int64_t first) {
    const int64_t n = range.hi - first + 1;
    return n < POLYTILE_COARSENING ? (int)n : POLYTILE_COARSENING;
}

#endif
