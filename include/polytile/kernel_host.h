#ifndef POLYTILE_KERNEL_HOST_H
#define POLYTILE_KERNEL_HOST_H

/*
 * Kernel bodies on the host; included by kernel.h, which documents the macros for users.
 *
 * The body is an always inlined function of one thread, in two loop nests over a box of threads.
 * One nest is for views whose last dimension is contiguous: that stride is a constant, so compilers
 * vectorise the innermost loop. The other is for all other views. The first is compiled once more
 * for wider vectors than the compiler was asked for, which pay for data in the caches. Results are
 * the same bits: nothing is fused into multiply-adds, and sums keep their order. Another nest is
 * for launches that write nothing but elements of their own, as reductions to one element do: these
 * are variables of the function, which compilers keep in registers. A last nest is for launches
 * with arrays in pieces, among which each access chooses.
 */
#include <polytile/implementation.h>

/* Nests that are inlined into one function share its registers, and spill within their loops. */
#ifdef __GNUC__
#define PT_NEST_FUNCTION __attribute__((noinline))
#else
#define PT_NEST_FUNCTION
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__) && !defined(__CUDA_ARCH__)
#define PT_WIDE_FUNCTION __attribute__((target("avx2")))
#define PT_IS_WIDE       __builtin_cpu_supports("avx2")
#else
#define PT_WIDE_FUNCTION
#define PT_IS_WIDE 0
#endif

#define PT_HOST_FUNCTION(kernel, indices, ...)                                                     \
    PT_NEST_FUNCTION static void kernel##_contiguous(const polytile_domain *pt_threads,            \
                                                     const polytile_view *pt_views) {              \
        PT_EACH(PT_DEFINE_CONTIGUOUS, kernel, __VA_ARGS__)                                         \
        PT_LOOPS indices kernel##_thread(PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__)); \
    }                                                                                              \
    PT_NEST_FUNCTION PT_WIDE_FUNCTION static void kernel##_wide(const polytile_domain *pt_threads, \
                                                                const polytile_view *pt_views) {   \
        PT_EACH(PT_DEFINE_CONTIGUOUS, kernel, __VA_ARGS__)                                         \
        PT_LOOPS indices kernel##_thread(PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__)); \
    }                                                                                              \
    PT_NEST_FUNCTION static void kernel##_alone(const polytile_domain *pt_threads,                 \
                                                const polytile_view *pt_views) {                   \
        PT_EACH(PT_DEFINE_ALONE, kernel, __VA_ARGS__)                                              \
        PT_LOOPS indices kernel##_thread(PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__)); \
        PT_EACH(PT_STORE_ALONE, kernel, __VA_ARGS__)                                               \
    }                                                                                              \
    PT_NEST_FUNCTION static void kernel##_strided(const polytile_domain *pt_threads,               \
                                                  const polytile_view *pt_views) {                 \
        PT_EACH(PT_DEFINE_STRIDED, kernel, __VA_ARGS__)                                            \
        PT_STEPPED_LOOPS indices kernel##_thread(                                                  \
            PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));                              \
    }                                                                                              \
    PT_NEST_FUNCTION static void kernel##_pieces(const polytile_domain *pt_threads,                \
                                                 const polytile_view *pt_views) {                  \
        const polytile_view *pt_pieces =                                                           \
            pt_views + (int)kernel##_n_views + (int)kernel##_n_parameters;                         \
        PT_EACH(PT_DEFINE_PIECES, kernel, __VA_ARGS__)                                             \
        PT_STEPPED_LOOPS indices kernel##_thread(                                                  \
            PT_UNPACK indices PT_EACH(PT_PASS, kernel, __VA_ARGS__));                              \
    }                                                                                              \
    static void kernel##_host(const polytile_domain *pt_threads, const polytile_view *pt_views,    \
                              void *pt_user) {                                                     \
        (void)pt_user;                                                                             \
        if (0 PT_EACH(PT_OR_HAS_PIECES, kernel, __VA_ARGS__))                                      \
            kernel##_pieces(pt_threads, pt_views);                                                 \
        else if (pt_has_steps(pt_threads) ||                                                       \
                 !(1 PT_EACH(PT_AND_IS_CONTIGUOUS, kernel, __VA_ARGS__)))                          \
            kernel##_strided(pt_threads, pt_views);                                                \
        else if (1 PT_EACH(PT_AND_IS_ALONE, kernel, __VA_ARGS__))                                  \
            kernel##_alone(pt_threads, pt_views);                                                  \
        else if (PT_IS_WIDE)                                                                       \
            kernel##_wide(pt_threads, pt_views);                                                   \
        else                                                                                       \
            kernel##_contiguous(pt_threads, pt_views);                                             \
    }

/* Whether a box of threads has a step above 1. */
static inline int pt_has_steps(const polytile_domain *threads) {
    int has = 0;
    for (int d = 0; d < threads->n_dims; d++)
        has |= threads->range[d].step != 1;
    return has;
}

/* Whether a type is const, and a type without const: the same, or in C, which has no way to take
 * const off complex numbers, any for one that is. */
#ifdef __cplusplus
extern "C++" {
template <class T> struct pt_constness {
    enum { is = 0 };
    typedef T bare;
};
template <class T> struct pt_constness<const T> {
    enum { is = 1 };
    typedef T bare;
};
}
#define PT_IS_CONST(T) pt_constness<T>::is
#define PT_BARE(T)     pt_constness<T>::bare
#else
#define PT_IS_CONST(T) __builtin_types_compatible_p(__typeof__(T) *, const __typeof__(T) *)
#define PT_BARE(T)     __typeof__(*__builtin_choose_expr(PT_IS_CONST(T), (char *)0, (T *)0))
#endif

/* The address of a view's one element. */
static inline void *pt_only_element(const polytile_view *view, int n_dims) {
    uint64_t address = (uint64_t)(uintptr_t)view->origin;
    for (int d = 0; d < n_dims; d++)
        address += (uint64_t)view->resident.range[d].lo * (uint64_t)view->stride_bytes[d];
    return (void *)(uintptr_t)address;
}

/* What each place needs of a parameter, the tuple (T, a), and of a view, (T, A, n_dims). */
#define PT_AND_IS_CONTIGUOUS_2(kernel, T, a)
#define PT_AND_IS_CONTIGUOUS_3(kernel, T, A, n_dims)                                               \
    &&PT_IS_CONTIGUOUS(T, n_dims, pt_views[kernel##_##A##_place])

#define PT_OR_HAS_PIECES_2(kernel, T, a)
#define PT_OR_HAS_PIECES_3(kernel, T, A, n_dims) || pt_views[kernel##_##A##_place].n_pieces > 0

#define PT_DEFINE_CONTIGUOUS_2(kernel, T, a) PT_DEFINE_PARAMETER(kernel, T, a)
#define PT_DEFINE_CONTIGUOUS_3(kernel, T, A, n_dims)                                               \
    PT_DEFINE_VIEW(kernel, T, A, n_dims, PT_LAST_UNIT)
/* Whatever its index, an element that is alone is the variable. */
#define PT_AND_IS_ALONE_2(kernel, T, a)
#define PT_AND_IS_ALONE_3(kernel, T, A, n_dims)                                                    \
    &&(PT_IS_CONST(T) || (pt_views[kernel##_##A##_place].first_piece & POLYTILE_ALONE) != 0)
#define PT_DEFINE_ALONE_2(kernel, T, a) PT_DEFINE_PARAMETER(kernel, T, a)
#define PT_DEFINE_ALONE_3(kernel, T, A, n_dims)                                                    \
    kernel##_##A##_view A =                                                                        \
        PT_VIEW_OF(T, pt_views[kernel##_##A##_place], n_dims, PT_LAST_UNIT, 0, 0);                 \
    PT_BARE(T) *const pt_home_##A =                                                                \
        (PT_BARE(T) *)pt_only_element(&pt_views[kernel##_##A##_place], n_dims);                    \
    PT_BARE(T) pt_own_##A;                                                                         \
    if (PT_IS_CONST(T))                                                                            \
        __builtin_memset(&pt_own_##A, 0, sizeof pt_own_##A);                                       \
    else                                                                                           \
        pt_own_##A = *pt_home_##A;                                                                 \
    for (int pt_d = 0; !PT_IS_CONST(T) && pt_d < n_dims; pt_d++)                                   \
        A.stride[pt_d] = 0;                                                                        \
    A.at = PT_IS_CONST(T) ? A.at : (T *)(void *)&pt_own_##A;
#define PT_STORE_ALONE_2(kernel, T, a)
#define PT_STORE_ALONE_3(kernel, T, A, n_dims)                                                     \
    if (!PT_IS_CONST(T))                                                                           \
        *pt_home_##A = pt_own_##A;

#define PT_DEFINE_STRIDED_2(kernel, T, a) PT_DEFINE_PARAMETER(kernel, T, a)
#define PT_DEFINE_STRIDED_3(kernel, T, A, n_dims)                                                  \
    PT_DEFINE_VIEW(kernel, T, A, n_dims, PT_LAST_STRIDE)
#define PT_DEFINE_PIECES_2(kernel, T, a) PT_DEFINE_PARAMETER(kernel, T, a)
#define PT_DEFINE_PIECES_3(kernel, T, A, n_dims)                                                   \
    const kernel##_##A##_view A =                                                                  \
        PT_VIEW_OF(T, pt_views[kernel##_##A##_place], n_dims, PT_LAST_STRIDE,                      \
                   pt_pieces + pt_views[kernel##_##A##_place].first_piece,                         \
                   pt_views[kernel##_##A##_place].n_pieces);

#define PT_DEFINE_VIEW(kernel, T, A, n_dims, LAST)                                                 \
    const kernel##_##A##_view A = PT_VIEW_OF(T, pt_views[kernel##_##A##_place], n_dims, LAST, 0, 0);
#define PT_DEFINE_PARAMETER(kernel, T, a)                                                          \
    T a = *(T *)pt_views[(int)kernel##_n_views + (int)kernel##_##a##_place].origin;

/* A loop nest over a box of threads. */
#define PT_LOOPS(...) PT_CAT(PT_LOOPS_, PT_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define PT_LOOP(i, dim)                                                                            \
    for (int64_t i = pt_threads->range[dim].lo, pt_last_##i = pt_threads->range[dim].hi;           \
         i <= pt_last_##i; i++)
#define PT_LOOPS_1(a)                      PT_LOOP(a, 0)
#define PT_LOOPS_2(a, b)                   PT_LOOPS_1(a) PT_LOOP(b, 1)
#define PT_LOOPS_3(a, b, c)                PT_LOOPS_2(a, b) PT_LOOP(c, 2)
#define PT_LOOPS_4(a, b, c, d)             PT_LOOPS_3(a, b, c) PT_LOOP(d, 3)
#define PT_LOOPS_5(a, b, c, d, e)          PT_LOOPS_4(a, b, c, d) PT_LOOP(e, 4)
#define PT_LOOPS_6(a, b, c, d, e, f)       PT_LOOPS_5(a, b, c, d, e) PT_LOOP(f, 5)
#define PT_LOOPS_7(a, b, c, d, e, f, g)    PT_LOOPS_6(a, b, c, d, e, f) PT_LOOP(g, 6)
#define PT_LOOPS_8(a, b, c, d, e, f, g, h) PT_LOOPS_7(a, b, c, d, e, f, g) PT_LOOP(h, 7)

/* The same by the box's steps. */
#define PT_STEPPED_LOOPS(...) PT_CAT(PT_STEPPED_LOOPS_, PT_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define PT_STEPPED_LOOP(i, dim)                                                                    \
    for (int64_t i = pt_threads->range[dim].lo, pt_last_##i = pt_threads->range[dim].hi,           \
                 pt_step_##i = pt_threads->range[dim].step;                                        \
         i <= pt_last_##i; i += pt_step_##i)
#define PT_STEPPED_LOOPS_1(a)                PT_STEPPED_LOOP(a, 0)
#define PT_STEPPED_LOOPS_2(a, b)             PT_STEPPED_LOOPS_1(a) PT_STEPPED_LOOP(b, 1)
#define PT_STEPPED_LOOPS_3(a, b, c)          PT_STEPPED_LOOPS_2(a, b) PT_STEPPED_LOOP(c, 2)
#define PT_STEPPED_LOOPS_4(a, b, c, d)       PT_STEPPED_LOOPS_3(a, b, c) PT_STEPPED_LOOP(d, 3)
#define PT_STEPPED_LOOPS_5(a, b, c, d, e)    PT_STEPPED_LOOPS_4(a, b, c, d) PT_STEPPED_LOOP(e, 4)
#define PT_STEPPED_LOOPS_6(a, b, c, d, e, f) PT_STEPPED_LOOPS_5(a, b, c, d, e) PT_STEPPED_LOOP(f, 5)
#define PT_STEPPED_LOOPS_7(a, b, c, d, e, f, g)                                                    \
    PT_STEPPED_LOOPS_6(a, b, c, d, e, f) PT_STEPPED_LOOP(g, 6)
#define PT_STEPPED_LOOPS_8(a, b, c, d, e, f, g, h)                                                 \
    PT_STEPPED_LOOPS_7(a, b, c, d, e, f, g) PT_STEPPED_LOOP(h, 7)

#endif
