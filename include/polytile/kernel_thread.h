#ifndef POLYTILE_KERNEL_THREAD_H
#define POLYTILE_KERNEL_THREAD_H

/* Implements the macros and functions of cuda.h, which includes this. */

/** Return the calling thread's place in the grid, which has fewer than 2^32 threads along each
 * axis. */
__device__ __forceinline__ uint32_t pt_grid_x(void) {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint32_t pt_grid_y(void) {
    return blockIdx.y * blockDim.y + threadIdx.y;
}

__device__ __forceinline__ uint32_t pt_grid_z(void) {
    return blockIdx.z * blockDim.z + threadIdx.z;
}

/** The ends of a range of step 1 that fit 32 bits. */
typedef struct pt_near_range {
    int32_t lo, hi;
} pt_near_range;

/** Return the index at a place, counted from the range's first; any number outside the box. */
__device__ __forceinline__ int64_t pt_index_at(const polytile_range &range, uint32_t place) {
    return (int64_t)((uint64_t)range.lo + place * (uint64_t)range.step);
}

__device__ __forceinline__ int32_t pt_index_at(const pt_near_range &range, uint32_t place) {
    return (int32_t)((uint32_t)range.lo + place);
}

/** Return 0 or 1: combined by |, they become one branch for all indices. */
__device__ __forceinline__ int pt_is_outside(const polytile_range &range, uint32_t place) {
    return place * (uint64_t)range.step > (uint64_t)range.hi - (uint64_t)range.lo;
}

__device__ __forceinline__ int pt_is_outside(const pt_near_range &range, uint32_t place) {
    return place > (uint32_t)range.hi - (uint32_t)range.lo;
}

__device__ __forceinline__ uint32_t pt_extent_of(const polytile_range &range) {
    const uint64_t reach = (uint64_t)range.hi - (uint64_t)range.lo;
    return (uint32_t)(range.step == 1 ? reach : reach / (uint64_t)range.step) + 1;
}

__device__ __forceinline__ uint32_t pt_extent_of(const pt_near_range &range) {
    return (uint32_t)range.hi - (uint32_t)range.lo + 1;
}

/** Take the fastest index off *z. */
template <class Range>
__device__ __forceinline__ auto pt_take_index(uint32_t *z, const Range &range)
    -> decltype(pt_index_at(range, 0u)) {
    const uint32_t extent = pt_extent_of(range), whole = *z;
    *z = whole / extent;
    return pt_index_at(range, whole % extent);
}

/* Bounds and strides that fit 32 bits. An index times a stride is then one instruction instead of
 * four, if the compiler does not see that the stride had 64 bits. */
#ifdef __CUDA_ARCH__
__device__ __forceinline__ int32_t pt_near_stride(int64_t stride_bytes) {
    int32_t near_by;
    asm("mov.b32 %0, %1;" : "=r"(near_by) : "r"((int32_t)stride_bytes));
    return near_by;
}
#else
__device__ __forceinline__ int32_t pt_near_stride(int64_t stride_bytes) {
    return (int32_t)stride_bytes;
}
#endif

typedef struct pt_near_domain {
    pt_near_range range[POLYTILE_MAX_DIMS];
} pt_near_domain;

__device__ __forceinline__ pt_near_domain pt_near_threads(const polytile_domain &threads) {
    pt_near_domain near_by;
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++) {
        near_by.range[d].lo = (int32_t)threads.range[d].lo;
        near_by.range[d].hi = (int32_t)threads.range[d].hi;
    }
    return near_by;
}

__device__ __forceinline__ polytile_view pt_near_view(const polytile_view &view) {
    polytile_view near_by = view;
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        near_by.stride_bytes[d] = pt_near_stride(view.stride_bytes[d]);
    return near_by;
}

/* Indices come before the one check, so they need not wait for it. The check is on places, in 32
 * bits. */
#define PT_THREAD_TYPE(threads) __typeof__(pt_index_at((threads).range[0], 0u))
#define PT_THREAD_INDEX(threads, dim, i, place)                                                    \
    const PT_THREAD_TYPE(threads) i __attribute__((unused)) =                                      \
        pt_index_at((threads).range[dim], place)
#define PT_THREAD_TAKE(threads, dim, i)                                                            \
    const PT_THREAD_TYPE(threads) i __attribute__((unused)) =                                      \
        pt_take_index(&pt_z, (threads).range[dim])
#define PT_THREAD_IS_OUTSIDE(threads, dim, place) pt_is_outside((threads).range[dim], place)

#define PT_THREAD_1(t, a)                                                                          \
    const uint32_t pt_x = pt_grid_x();                                                             \
    PT_THREAD_INDEX(t, 0, a, pt_x);                                                                \
    if (PT_THREAD_IS_OUTSIDE(t, 0, pt_x))                                                          \
    return
#define PT_THREAD_2(t, a, b)                                                                       \
    const uint32_t pt_x = pt_grid_x(), pt_y = pt_grid_y();                                         \
    PT_THREAD_INDEX(t, 1, b, pt_x);                                                                \
    PT_THREAD_INDEX(t, 0, a, pt_y);                                                                \
    if (PT_THREAD_IS_OUTSIDE(t, 1, pt_x) | PT_THREAD_IS_OUTSIDE(t, 0, pt_y))                       \
    return
#define PT_THREAD_3(t, a, b, c)    PT_THREAD_Z(t, 3, (void)0, a, b, c)
#define PT_THREAD_4(t, a, b, c, d) PT_THREAD_Z(t, 4, PT_THREAD_TAKE(t, 1, b), a, c, d)
#define PT_THREAD_5(t, a, b, c, d, e)                                                              \
    PT_THREAD_Z(t, 5, PT_THREAD_TAKE(t, 2, c); PT_THREAD_TAKE(t, 1, b), a, d, e)
#define PT_THREAD_6(t, a, b, c, d, e, f)                                                           \
    PT_THREAD_Z(t, 6, PT_THREAD_TAKE(t, 3, d); PT_THREAD_TAKE(t, 2, c);                            \
                PT_THREAD_TAKE(t, 1, b), a, e, f)
#define PT_THREAD_7(t, a, b, c, d, e, f, g)                                                        \
    PT_THREAD_Z(t, 7, PT_THREAD_TAKE(t, 4, e); PT_THREAD_TAKE(t, 3, d); PT_THREAD_TAKE(t, 2, c);   \
                PT_THREAD_TAKE(t, 1, b), a, f, g)
#define PT_THREAD_8(t, a, b, c, d, e, f, g, h)                                                     \
    PT_THREAD_Z(t, 8, PT_THREAD_TAKE(t, 5, f); PT_THREAD_TAKE(t, 4, e); PT_THREAD_TAKE(t, 3, d);   \
                PT_THREAD_TAKE(t, 2, c); PT_THREAD_TAKE(t, 1, b), a, g, h)

/* Three indices and more: `takes` declares those between the first, a, and the last two, y and x.
 * The rest of pt_z is for a. */
#define PT_THREAD_Z(t, n_indices, takes, a, y, x)                                                  \
    const uint32_t pt_x = pt_grid_x(), pt_y = pt_grid_y();                                         \
    uint32_t pt_z = pt_grid_z();                                                                   \
    takes;                                                                                         \
    PT_THREAD_INDEX(t, (n_indices)-1, x, pt_x);                                                    \
    PT_THREAD_INDEX(t, (n_indices)-2, y, pt_y);                                                    \
    PT_THREAD_INDEX(t, 0, a, pt_z);                                                                \
    if (PT_THREAD_IS_OUTSIDE(t, (n_indices)-1, pt_x) |                                             \
        PT_THREAD_IS_OUTSIDE(t, (n_indices)-2, pt_y) | PT_THREAD_IS_OUTSIDE(t, 0, pt_z))           \
    return

/* The indices of a slot, whose number in C order is pt_z. */
#define PT_SLOT(threads, ...) PT_CAT(PT_SLOT_, PT_COUNT(__VA_ARGS__))(threads, __VA_ARGS__)
#define PT_SLOT_1(t, a)       PT_THREAD_TAKE(t, 0, a)
#define PT_SLOT_2(t, a, b)                                                                         \
    PT_THREAD_TAKE(t, 1, b);                                                                       \
    PT_SLOT_1(t, a)
#define PT_SLOT_3(t, a, b, c)                                                                      \
    PT_THREAD_TAKE(t, 2, c);                                                                       \
    PT_SLOT_2(t, a, b)
#define PT_SLOT_4(t, a, b, c, d)                                                                   \
    PT_THREAD_TAKE(t, 3, d);                                                                       \
    PT_SLOT_3(t, a, b, c)
#define PT_SLOT_5(t, a, b, c, d, e)                                                                \
    PT_THREAD_TAKE(t, 4, e);                                                                       \
    PT_SLOT_4(t, a, b, c, d)
#define PT_SLOT_6(t, a, b, c, d, e, f)                                                             \
    PT_THREAD_TAKE(t, 5, f);                                                                       \
    PT_SLOT_5(t, a, b, c, d, e)
#define PT_SLOT_7(t, a, b, c, d, e, f, g)                                                          \
    PT_THREAD_TAKE(t, 6, g);                                                                       \
    PT_SLOT_6(t, a, b, c, d, e, f)
#define PT_SLOT_8(t, a, b, c, d, e, f, g, h)                                                       \
    PT_THREAD_TAKE(t, 7, h);                                                                       \
    PT_SLOT_7(t, a, b, c, d, e, f, g)

template <class T, class U> struct pt_is_same { static constexpr bool value = false; };
template <class T> struct pt_is_same<T, T> { static constexpr bool value = true; };

template <class T> struct pt_is_value {
    static constexpr bool value = sizeof(T) <= 8 && !pt_is_same<T, polytile_view>::value;
};
template <class T> struct pt_is_value<T *> { static constexpr bool value = false; };
template <class T> struct pt_is_value<T &> { static constexpr bool value = false; };

/** Return how many views a kernel takes, -1 if something else is before or after its values. */
template <class... Parameters> constexpr int pt_count_views(void) {
    const bool is_view[] = {pt_is_same<Parameters, polytile_view>::value..., false};
    const bool is_value[] = {pt_is_value<Parameters>::value..., false};
    const int n = (int)sizeof...(Parameters);
    int n_views = 0, k = 0;
    while (is_view[n_views])
        n_views++;
    for (k = n_views; k < n && is_value[k];)
        k++;
    return k == n ? n_views : -1;
}

/* What a kernel takes, views too, so that the part after them is of the parameters. */
template <class... Parameters> struct pt_parameters {
    static const polytile_body_parameter *behind(int n_views) {
        static const polytile_body_parameter all[] = {
            {0, (int64_t)sizeof(Parameters), PT_NUMBER_OF(Parameters)}...,
            {0, 0, POLYTILE_ANY_NUMBER}};
        return all + n_views;
    }
};

template <class... Parameters>
polytile_implementation polytile_implementation_from_cuda(void (*kernel)(polytile_domain,
                                                                         Parameters...)) {
    constexpr int n_views = pt_count_views<Parameters...>();
    static_assert(n_views >= 0, "a CUDA kernel takes (polytile_domain threads, polytile_view ..., "
                                "values of parameters ...), all by value");
    polytile_implementation implementation = {};
    implementation.n_views = n_views;
    implementation.n_parameters = (int)sizeof...(Parameters) - n_views;
    implementation.parameters = pt_parameters<Parameters...>::behind(n_views);
    implementation.cuda = (const void *)kernel;
    return implementation;
}

#endif
