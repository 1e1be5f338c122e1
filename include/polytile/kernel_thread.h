#ifndef POLYTILE_KERNEL_THREAD_H
#define POLYTILE_KERNEL_THREAD_H

/* What is behind the macros and functions of cuda.h, which includes this. */

/** The calling thread's place in the grid. Blocks are at most 2^31 - 1 by 65535 by 65535, so only
 * x needs more than 32 bits. */
__device__ __forceinline__ int64_t pt_grid_x(void) {
    return (int64_t)((uint64_t)blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ __forceinline__ uint32_t pt_grid_y(void) {
    return blockIdx.y * blockDim.y + threadIdx.y;
}

__device__ __forceinline__ uint32_t pt_grid_z(void) {
    return blockIdx.z * blockDim.z + threadIdx.z;
}

/** Takes the fastest index, of extent hi - lo + 1, off what *z stands for. */
__device__ __forceinline__ int64_t pt_take_index(uint32_t *z, int64_t lo, int64_t hi) {
    const uint32_t extent = (uint32_t)(hi - lo + 1), whole = *z;
    *z = whole / extent;
    return lo + whole % extent;
}

/* One index at a time; those that can lie outside the box are compared with its end. */
#define PT_THREAD_LO(threads, dim) (threads).range[dim].lo
#define PT_THREAD_HI(threads, dim) (threads).range[dim].hi
#define PT_THREAD_AT(threads, dim, i, place)                                                       \
    const int64_t i __attribute__((unused)) = PT_THREAD_LO(threads, dim) + (place);                \
    if (i > PT_THREAD_HI(threads, dim))                                                            \
    return
#define PT_THREAD_TAKE(threads, dim, i)                                                            \
    const int64_t i __attribute__((unused)) =                                                      \
        pt_take_index(&pt_z, PT_THREAD_LO(threads, dim), PT_THREAD_HI(threads, dim))

#define PT_THREAD_1(t, a) PT_THREAD_AT(t, 0, a, pt_grid_x())
#define PT_THREAD_2(t, a, b)                                                                       \
    PT_THREAD_AT(t, 1, b, pt_grid_x());                                                            \
    PT_THREAD_AT(t, 0, a, pt_grid_y())
#define PT_THREAD_3(t, a, b, c)                                                                    \
    PT_THREAD_AT(t, 2, c, pt_grid_x());                                                            \
    PT_THREAD_AT(t, 1, b, pt_grid_y());                                                            \
    PT_THREAD_AT(t, 0, a, pt_grid_z())
#define PT_THREAD_4(t, a, b, c, d)                                                                 \
    PT_THREAD_AT(t, 3, d, pt_grid_x());                                                            \
    PT_THREAD_AT(t, 2, c, pt_grid_y());                                                            \
    PT_THREAD_Z(t, PT_THREAD_TAKE(t, 1, b), a)
#define PT_THREAD_5(t, a, b, c, d, e)                                                              \
    PT_THREAD_AT(t, 4, e, pt_grid_x());                                                            \
    PT_THREAD_AT(t, 3, d, pt_grid_y());                                                            \
    PT_THREAD_Z(t, PT_THREAD_TAKE(t, 2, c); PT_THREAD_TAKE(t, 1, b), a)
#define PT_THREAD_6(t, a, b, c, d, e, f)                                                           \
    PT_THREAD_AT(t, 5, f, pt_grid_x());                                                            \
    PT_THREAD_AT(t, 4, e, pt_grid_y());                                                            \
    PT_THREAD_Z(t, PT_THREAD_TAKE(t, 3, d); PT_THREAD_TAKE(t, 2, c); PT_THREAD_TAKE(t, 1, b), a)
#define PT_THREAD_7(t, a, b, c, d, e, f, g)                                                        \
    PT_THREAD_AT(t, 6, g, pt_grid_x());                                                            \
    PT_THREAD_AT(t, 5, f, pt_grid_y());                                                            \
    PT_THREAD_Z(t, PT_THREAD_TAKE(t, 4, e); PT_THREAD_TAKE(t, 3, d); PT_THREAD_TAKE(t, 2, c);      \
                PT_THREAD_TAKE(t, 1, b), a)
#define PT_THREAD_8(t, a, b, c, d, e, f, g, h)                                                     \
    PT_THREAD_AT(t, 7, h, pt_grid_x());                                                            \
    PT_THREAD_AT(t, 6, g, pt_grid_y());                                                            \
    PT_THREAD_Z(t, PT_THREAD_TAKE(t, 5, f); PT_THREAD_TAKE(t, 4, e); PT_THREAD_TAKE(t, 3, d);      \
                PT_THREAD_TAKE(t, 2, c); PT_THREAD_TAKE(t, 1, b), a)

/* All indices along z: `takes` declares them all but the first, a, for which the rest is left. */
#define PT_THREAD_Z(t, takes, a)                                                                   \
    uint32_t pt_z = pt_grid_z();                                                                   \
    takes;                                                                                         \
    PT_THREAD_AT(t, 0, a, pt_z)

template <class T, class U> struct pt_is_same { static constexpr bool value = false; };
template <class T> struct pt_is_same<T, T> { static constexpr bool value = true; };

template <class... Views>
polytile_implementation polytile_implementation_from_cuda(void (*kernel)(polytile_domain,
                                                                         Views...)) {
    static_assert((pt_is_same<Views, polytile_view>::value && ...),
                  "a CUDA kernel takes (polytile_domain threads, polytile_view ..., by value)");
    polytile_implementation implementation = {};
    implementation.n_views = (int)sizeof...(Views);
    implementation.cuda = (const void *)kernel;
    return implementation;
}

#endif
