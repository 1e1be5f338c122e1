#ifndef POLYTILE_KERNEL_VIEW_H
#define POLYTILE_KERNEL_VIEW_H

/* Typed views on the host and on devices; kernel.h says how bodies use them. */
#include <polytile/implementation.h>
#include <polytile/kernel_list.h>
#include <polytile/kernel_number.h>

/** The polytile_view_shape of a C type, for implementations written by hand. */
#define POLYTILE_VIEW_SHAPE(T, n_dims)                                                             \
    { (int64_t)sizeof(T), n_dims, PT_NUMBER_OF(T) }

/** The element of a view with the given indices, one to eight of them; an lvalue. */
#define PT_AT(view, ...)                                                                           \
    PT_ELEMENT(view, PT_CAT(PT_ADDRESS_, PT_COUNT(__VA_ARGS__))(view, __VA_ARGS__))

/** The first and the last index of a view's dimension that is resident. */
#define PT_FIRST(view, dim) ((view).first[dim])
#define PT_LAST(view, dim)  ((view).last[dim])

/** The first and the last index of the whole array along a dimension, and the number of them. */
#define PT_ARRAY_FIRST(view, dim) ((view).array_first[dim])
#define PT_ARRAY_LAST(view, dim)  ((view).array_last[dim])
#define PT_EXTENT(view, dim)      (PT_ARRAY_LAST(view, dim) - PT_ARRAY_FIRST(view, dim) + 1)

/** The index that wrap(index) and clamp(index) of a declaration name along a dimension: beyond an
 * end the array goes on at its other one, or has its outermost element. */
#define PT_WRAP(view, dim, index)                                                                  \
    ((view).has_edges ? pt_wrapped(index, PT_ARRAY_FIRST(view, dim), PT_ARRAY_LAST(view, dim))     \
                      : (int64_t)(index))
#define PT_CLAMP(view, dim, index)                                                                 \
    ((view).has_edges ? pt_clamped(index, PT_ARRAY_FIRST(view, dim), PT_ARRAY_LAST(view, dim))     \
                      : (int64_t)(index))

/* A typed view: at is where the element with all indices 0 would be, strides are in bytes, and as
 * addresses they are counted modulo 2^64. Where n_pieces is not 0, elements are found in the pieces
 * instead. has_edges: indices may be beyond the array's ends; bodies know it when they are
 * compiled. */
#define PT_VIEW_STRUCT(T, n_dims)                                                                  \
    struct {                                                                                       \
        T *at;                                                                                     \
        uint64_t stride[n_dims];                                                                   \
        int64_t first[n_dims];                                                                     \
        int64_t last[n_dims];                                                                      \
        int64_t array_first[n_dims];                                                               \
        int64_t array_last[n_dims];                                                                \
        const polytile_view *pieces;                                                               \
        int32_t n_pieces;                                                                          \
        int32_t has_edges;                                                                         \
    }

/**
 * A typed view as a local variable, for host functions written by hand over a whole box:
 * PT_VIEW(const float, A, 2, views[0]); then PT_AT(A, i, j).
 */
#define PT_VIEW(T, name, n_dims, view)                                                             \
    PT_VIEW_STRUCT(T, n_dims) name = PT_VIEW_OF(T, view, n_dims, PT_LAST_STRIDE, 0, 0)

/** A typed view whose last dimension is contiguous, see PT_IS_CONTIGUOUS(). */
#define PT_CONTIGUOUS_VIEW(T, name, n_dims, view)                                                  \
    PT_VIEW_STRUCT(T, n_dims) name = PT_VIEW_OF(T, view, n_dims, PT_LAST_UNIT, 0, 0)

/**
 * A parameter's value as a local constant, for host functions and launchers written by hand:
 * PT_PARAMETER(float, a, views[2]), of a view after those of the arrays.
 */
#define PT_PARAMETER(T, name, view) const __typeof__(T) name = *(const __typeof__(T) *)(view).origin

/** Whether the elements along a polytile_view's last dimension lie side by side. */
#define PT_IS_CONTIGUOUS(T, n_dims, view) ((view).stride_bytes[(n_dims)-1] == (int64_t)sizeof(T))

#define PT_LAST_STRIDE(T, view, d) (uint64_t)(view).stride_bytes[d]
#define PT_LAST_UNIT(T, view, d)   (uint64_t)sizeof(T)

/* The initialiser of a typed view; LAST says what the last dimension's stride is. */
#define PT_VIEW_OF(T, v, n_dims, LAST, pieces, n_pieces)                                           \
    PT_VIEW_WITH(T, v, n_dims, LAST, pieces, n_pieces, 1)
#define PT_VIEW_WITH(T, v, n_dims, LAST, pieces, n_pieces, has_edges)                              \
    {                                                                                              \
        (T *)(v).origin, {PT_CAT(PT_FIRST_STRIDES_, n_dims)(v) LAST(T, v, (n_dims)-1)},            \
            {PT_CAT(PT_RANGE_ENDS_, n_dims)(v, lo)}, {PT_CAT(PT_RANGE_ENDS_, n_dims)(v, hi)},      \
            {PT_CAT(PT_ARRAY_ENDS_, n_dims)(v, array_first)},                                      \
            {PT_CAT(PT_ARRAY_ENDS_, n_dims)(v, array_last)}, pieces, n_pieces, has_edges           \
    }

/* The strides of all dimensions but the last, each with a comma after it. */
#define PT_STRIDE(v, d) (uint64_t)(v).stride_bytes[d],
#define PT_FIRST_STRIDES_1(v)
#define PT_FIRST_STRIDES_2(v) PT_FIRST_STRIDES_1(v) PT_STRIDE(v, 0)
#define PT_FIRST_STRIDES_3(v) PT_FIRST_STRIDES_2(v) PT_STRIDE(v, 1)
#define PT_FIRST_STRIDES_4(v) PT_FIRST_STRIDES_3(v) PT_STRIDE(v, 2)
#define PT_FIRST_STRIDES_5(v) PT_FIRST_STRIDES_4(v) PT_STRIDE(v, 3)
#define PT_FIRST_STRIDES_6(v) PT_FIRST_STRIDES_5(v) PT_STRIDE(v, 4)
#define PT_FIRST_STRIDES_7(v) PT_FIRST_STRIDES_6(v) PT_STRIDE(v, 5)
#define PT_FIRST_STRIDES_8(v) PT_FIRST_STRIDES_7(v) PT_STRIDE(v, 6)

/* The first (lo) or the last (hi) resident indices of all dimensions. */
#define PT_RANGE_END(v, end, d) (v).resident.range[d].end
#define PT_RANGE_ENDS_1(v, end) PT_RANGE_END(v, end, 0)
#define PT_RANGE_ENDS_2(v, end) PT_RANGE_ENDS_1(v, end), PT_RANGE_END(v, end, 1)
#define PT_RANGE_ENDS_3(v, end) PT_RANGE_ENDS_2(v, end), PT_RANGE_END(v, end, 2)
#define PT_RANGE_ENDS_4(v, end) PT_RANGE_ENDS_3(v, end), PT_RANGE_END(v, end, 3)
#define PT_RANGE_ENDS_5(v, end) PT_RANGE_ENDS_4(v, end), PT_RANGE_END(v, end, 4)
#define PT_RANGE_ENDS_6(v, end) PT_RANGE_ENDS_5(v, end), PT_RANGE_END(v, end, 5)
#define PT_RANGE_ENDS_7(v, end) PT_RANGE_ENDS_6(v, end), PT_RANGE_END(v, end, 6)
#define PT_RANGE_ENDS_8(v, end) PT_RANGE_ENDS_7(v, end), PT_RANGE_END(v, end, 7)

/* The first (array_first) or the last (array_last) indices of the array in all dimensions. */
#define PT_ARRAY_END(v, end, d) (v).end[d]
#define PT_ARRAY_ENDS_1(v, end) PT_ARRAY_END(v, end, 0)
#define PT_ARRAY_ENDS_2(v, end) PT_ARRAY_ENDS_1(v, end), PT_ARRAY_END(v, end, 1)
#define PT_ARRAY_ENDS_3(v, end) PT_ARRAY_ENDS_2(v, end), PT_ARRAY_END(v, end, 2)
#define PT_ARRAY_ENDS_4(v, end) PT_ARRAY_ENDS_3(v, end), PT_ARRAY_END(v, end, 3)
#define PT_ARRAY_ENDS_5(v, end) PT_ARRAY_ENDS_4(v, end), PT_ARRAY_END(v, end, 4)
#define PT_ARRAY_ENDS_6(v, end) PT_ARRAY_ENDS_5(v, end), PT_ARRAY_END(v, end, 5)
#define PT_ARRAY_ENDS_7(v, end) PT_ARRAY_ENDS_6(v, end), PT_ARRAY_END(v, end, 6)
#define PT_ARRAY_ENDS_8(v, end) PT_ARRAY_ENDS_7(v, end), PT_ARRAY_END(v, end, 7)

/* The element at an address. Recording bodies report it to polytile_check_use(). */
#define PT_ELEMENT(v, address) (*(__typeof__((v).at))PT_REACHED(address))

#if defined(POLYTILE_RECORD_ACCESS) && !defined(__CUDACC__)
#include <polytile/record.h>
#define PT_REACHED(address) polytile_record_access(address)
#else
#define PT_REACHED(address) (address)
#endif

/* Functions of views that devices run, too. */
#ifdef __CUDACC__
#define PT_VIEW_FUNCTION static __host__ __device__ __forceinline__
#else
#define PT_VIEW_FUNCTION static inline
#endif

/* A number modulo an extent, without a division: that takes GPUs many registers, and is hardly
 * used. */
PT_VIEW_FUNCTION int64_t pt_rounds_off(uint64_t at, uint64_t extent) {
    uint64_t rounds = extent;
    while (rounds <= at / 2)
        rounds *= 2;
    for (; rounds >= extent; rounds /= 2)
        at -= at >= rounds ? rounds : 0;
    return (int64_t)at;
}

/* Most indices are in the array, or a round beyond. */
PT_VIEW_FUNCTION int64_t pt_wrapped(int64_t index, int64_t first, int64_t last) {
    const int64_t extent = last - first + 1;
    int64_t at = index - first;
    at += at < 0 ? extent : 0;
    at -= at >= extent ? extent : 0;
    if (at >= extent)
        at = pt_rounds_off((uint64_t)at, (uint64_t)extent);
    if (at < 0)
        at = extent - 1 - pt_rounds_off((uint64_t)(-1 - at), (uint64_t)extent);
    return first + at;
}

PT_VIEW_FUNCTION int64_t pt_clamped(int64_t index, int64_t first, int64_t last) {
    return index < first ? first : index > last ? last : index;
}

/* Addresses are counted modulo 2^64, which sanitizers are told. */
#ifdef __CUDACC__
#define PT_NO_OVERFLOW
#else
#define PT_NO_OVERFLOW __attribute__((no_sanitize("pointer-overflow")))
#endif

/* The address offset_bytes after another. */
PT_NO_OVERFLOW PT_VIEW_FUNCTION const char *pt_behind(const void *origin, uint64_t offset_bytes) {
    return (const char *)origin + (int64_t)offset_bytes;
}

/* The address of the element with one to eight indices. Bodies for arrays in one piece know that
 * n_pieces is 0 when they are compiled. */
#define PT_ADDRESS(v, offset_bytes, n_dims, ...)                                                   \
    ((v).n_pieces == 0 ? pt_behind((v).at, offset_bytes) : PT_FIND(v, n_dims, __VA_ARGS__))
#define PT_ADDRESS_1(v, a)       PT_ADDRESS(v, PT_OFFSET_1(v, a), 1, a, 0, 0, 0, 0, 0, 0, 0)
#define PT_ADDRESS_2(v, a, b)    PT_ADDRESS(v, PT_OFFSET_2(v, a, b), 2, a, b, 0, 0, 0, 0, 0, 0)
#define PT_ADDRESS_3(v, a, b, c) PT_ADDRESS(v, PT_OFFSET_3(v, a, b, c), 3, a, b, c, 0, 0, 0, 0, 0)
#define PT_ADDRESS_4(v, a, b, c, d)                                                                \
    PT_ADDRESS(v, PT_OFFSET_4(v, a, b, c, d), 4, a, b, c, d, 0, 0, 0, 0)
#define PT_ADDRESS_5(v, a, b, c, d, e)                                                             \
    PT_ADDRESS(v, PT_OFFSET_5(v, a, b, c, d, e), 5, a, b, c, d, e, 0, 0, 0)
#define PT_ADDRESS_6(v, a, b, c, d, e, f)                                                          \
    PT_ADDRESS(v, PT_OFFSET_6(v, a, b, c, d, e, f), 6, a, b, c, d, e, f, 0, 0)
#define PT_ADDRESS_7(v, a, b, c, d, e, f, g)                                                       \
    PT_ADDRESS(v, PT_OFFSET_7(v, a, b, c, d, e, f, g), 7, a, b, c, d, e, f, g, 0)
#define PT_ADDRESS_8(v, a, b, c, d, e, f, g, h)                                                    \
    PT_ADDRESS(v, PT_OFFSET_8(v, a, b, c, d, e, f, g, h), 8, a, b, c, d, e, f, g, h)

/* The bytes to it from the element with all indices 0. */
#define PT_OFFSET(v, dim, index)            ((uint64_t)(index) * (v).stride[dim])
#define PT_OFFSET_1(v, a)                   PT_OFFSET(v, 0, a)
#define PT_OFFSET_2(v, a, b)                PT_OFFSET_1(v, a) + PT_OFFSET(v, 1, b)
#define PT_OFFSET_3(v, a, b, c)             PT_OFFSET_2(v, a, b) + PT_OFFSET(v, 2, c)
#define PT_OFFSET_4(v, a, b, c, d)          PT_OFFSET_3(v, a, b, c) + PT_OFFSET(v, 3, d)
#define PT_OFFSET_5(v, a, b, c, d, e)       PT_OFFSET_4(v, a, b, c, d) + PT_OFFSET(v, 4, e)
#define PT_OFFSET_6(v, a, b, c, d, e, f)    PT_OFFSET_5(v, a, b, c, d, e) + PT_OFFSET(v, 5, f)
#define PT_OFFSET_7(v, a, b, c, d, e, f, g) PT_OFFSET_6(v, a, b, c, d, e, f) + PT_OFFSET(v, 6, g)
#define PT_OFFSET_8(v, a, b, c, d, e, f, g, h)                                                     \
    PT_OFFSET_7(v, a, b, c, d, e, f, g) + PT_OFFSET(v, 7, h)

/* Where CUDA kernels go round in tiles (kernel_tiles.h), n_pieces is -1, pieces is a pt_round, and
 * at is the first element that it has. Only bodies that are compiled for it look; kernel.h says
 * how. */
#ifndef POLYTILE_PERIODIC_TILES
#define POLYTILE_PERIODIC_TILES 0
#endif

#ifdef __CUDACC__
#define PT_FIND(v, n_dims, ...)                                                                    \
    (POLYTILE_PERIODIC_TILES && (v).n_pieces < 0                                                   \
         ? pt_round_at((v).at, (v).stride, (v).pieces, __VA_ARGS__)                                \
         : pt_piece_at((v).pieces, (v).n_pieces, n_dims, __VA_ARGS__))

/* The rows and columns of a periodic array from its element with these indices on. */
typedef struct pt_round {
    int32_t first[2], extent[2];
} pt_round;

/* The place of an index along a dimension, at most a round away. */
PT_VIEW_FUNCTION int32_t pt_round_place(const pt_round *of, int dim, int64_t index) {
    int32_t place = (int32_t)index - of->first[dim];
    place += place < 0 ? of->extent[dim] : 0;
    return place - (place >= of->extent[dim] ? of->extent[dim] : 0);
}

/* The address of an element of them. */
PT_VIEW_FUNCTION const char *pt_round_at(const void *at, const uint64_t *stride, const void *round,
                                         int64_t a, int64_t b, int64_t, int64_t, int64_t, int64_t,
                                         int64_t, int64_t) {
    const pt_round *of = (const pt_round *)round;
    return pt_behind(at, (uint64_t)(pt_round_place(of, 0, a) * (int32_t)stride[0] +
                                    pt_round_place(of, 1, b) * (int32_t)stride[1]));
}
#else
#define PT_FIND(v, n_dims, ...) pt_piece_at((v).pieces, (v).n_pieces, n_dims, __VA_ARGS__)
#endif

/* Whether a piece has the element with these indices. */
PT_VIEW_FUNCTION int pt_is_in_piece(const polytile_view *piece, int n_dims, const int64_t *index) {
    int is_in = 1;
    for (int d = 0; d < n_dims; d++) {
        const polytile_range *range = &piece->resident.range[d];
        is_in = is_in && index[d] >= range->lo && index[d] <= range->hi &&
                (range->step == 1 || (index[d] - range->lo) % range->step == 0);
    }
    return is_in;
}

/* The address of an element in the first piece that has it; the last one is asked nothing. */
PT_VIEW_FUNCTION const char *pt_piece_at(const polytile_view *pieces, int n_pieces, int n_dims,
                                         int64_t a, int64_t b, int64_t c, int64_t d, int64_t e,
                                         int64_t f, int64_t g, int64_t h) {
    const int64_t index[POLYTILE_MAX_DIMS] = {a, b, c, d, e, f, g, h};
    uint64_t offset_bytes = 0;
    int k = 0;
    while (k < n_pieces - 1 && !pt_is_in_piece(&pieces[k], n_dims, index))
        k++;
    for (int dim = 0; dim < n_dims; dim++)
        offset_bytes += (uint64_t)index[dim] * (uint64_t)pieces[k].stride_bytes[dim];
    return pt_behind(pieces[k].origin, offset_bytes);
}

#endif
