#ifndef POLYTILE_KERNEL_H
#define POLYTILE_KERNEL_H

/**
 * One kernel body for every device, written for one thread and with the arrays' global indices:
 *
 *     POLYTILE_KERNEL(jacobi, (i, j), (const float, A, 2), (float, B, 2)) {
 *         PT_AT(B, i, j) = 0.25f * (PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j) +
 *                                   PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1));
 *     }
 *
 * defines `static const polytile_implementation jacobi_kernel`, for polytile_kernel_create(), which
 * refuses it for a declaration with another number of indices or arrays; a run refuses arrays whose
 * elements have another size, or which have another number of dimensions, than the body's.
 *
 * Shapes  1 to 4 indices, in the declaration's order; 1 to 8 views (element type, name, number of
 *         dimensions 1 to 4), one an array, in the order in which the declaration first names them.
 * In the body
 *         PT_AT(A, i, j)      the element of A with these indices, to read or to assign
 *         PT_FIRST(A, d)      the first index of dimension d that may be used; of a dimension that
 *         PT_LAST(A, d)       is declared whole (:) they are the array's first and last index
 *         PT_SUM(element, value), PT_PROD, PT_MIN, PT_MAX
 *                             combine into an element of a reducing role (sum, prod, min, max)
 *         and an early `return` ends the thread. Only elements that the declaration says may be
 *         touched.
 */
#include <polytile/implementation.h>

/** The element of a view with the given indices, one to four of them; an lvalue. */
#define PT_AT(view, ...) PT_CAT(PT_AT_, PT_COUNT(__VA_ARGS__))(view, __VA_ARGS__)

/** The first and the last index of a view's dimension that is resident. */
#define PT_FIRST(view, dim) ((view).first[dim])
#define PT_LAST(view, dim)  ((view).last[dim])

/* A typed view: at is where the element with all indices 0 would be, strides are in bytes. */
#define PT_VIEW_STRUCT(T, n_dims)                                                                  \
    struct {                                                                                       \
        T *at;                                                                                     \
        int64_t stride[n_dims];                                                                    \
        int64_t first[n_dims];                                                                     \
        int64_t last[n_dims];                                                                      \
    }

/**
 * A typed view as a local variable, for host functions written by hand over a whole box:
 * PT_VIEW(const float, A, 2, views[0]); then PT_AT(A, i, j).
 */
#define PT_VIEW(T, name, n_dims, view)                                                             \
    PT_VIEW_STRUCT(T, n_dims) name = PT_CAT(PT_VIEW_OF_, n_dims)(T, view, PT_LAST_STRIDE)

/** The same where the last dimension is known to be contiguous, see PT_IS_CONTIGUOUS(). */
#define PT_CONTIGUOUS_VIEW(T, name, n_dims, view)                                                  \
    PT_VIEW_STRUCT(T, n_dims) name = PT_CAT(PT_VIEW_OF_, n_dims)(T, view, PT_LAST_UNIT)

/** Whether the elements along a polytile_view's last dimension lie side by side. */
#define PT_IS_CONTIGUOUS(T, n_dims, view) ((view).stride_bytes[(n_dims)-1] == (int64_t)sizeof(T))

#define PT_LAST_STRIDE(T, view, d) (view).stride_bytes[d]
#define PT_LAST_UNIT(T, view, d)   (int64_t)sizeof(T)

#define PT_VIEW_OF_1(T, v, LAST)                                                                   \
    { (T *)(v).origin, {LAST(T, v, 0)}, {(v).resident.range[0].lo}, {(v).resident.range[0].hi}, }
#define PT_VIEW_OF_2(T, v, LAST)                                                                   \
    {                                                                                              \
        (T *)(v).origin, {(v).stride_bytes[0], LAST(T, v, 1)},                                     \
            {(v).resident.range[0].lo, (v).resident.range[1].lo},                                  \
            {(v).resident.range[0].hi, (v).resident.range[1].hi},                                  \
    }
#define PT_VIEW_OF_3(T, v, LAST)                                                                   \
    {                                                                                              \
        (T *)(v).origin, {(v).stride_bytes[0], (v).stride_bytes[1], LAST(T, v, 2)},                \
            {(v).resident.range[0].lo, (v).resident.range[1].lo, (v).resident.range[2].lo},        \
            {(v).resident.range[0].hi, (v).resident.range[1].hi, (v).resident.range[2].hi},        \
    }
#define PT_VIEW_OF_4(T, v, LAST)                                                                   \
    {                                                                                              \
        (T *)(v).origin,                                                                           \
            {(v).stride_bytes[0], (v).stride_bytes[1], (v).stride_bytes[2], LAST(T, v, 3)},        \
            {(v).resident.range[0].lo, (v).resident.range[1].lo, (v).resident.range[2].lo,         \
             (v).resident.range[3].lo},                                                            \
            {(v).resident.range[0].hi, (v).resident.range[1].hi, (v).resident.range[2].hi,         \
             (v).resident.range[3].hi},                                                            \
    }

#define PT_ELEMENT(v, offset_bytes) (*(__typeof__((v).at))((const char *)(v).at + (offset_bytes)))
#define PT_OFFSET(v, d, index)      ((int64_t)(index) * (v).stride[d])
#define PT_AT_1(v, a)               PT_ELEMENT(v, PT_OFFSET(v, 0, a))
#define PT_AT_2(v, a, b)            PT_ELEMENT(v, PT_OFFSET(v, 0, a) + PT_OFFSET(v, 1, b))
#define PT_AT_3(v, a, b, c)                                                                        \
    PT_ELEMENT(v, PT_OFFSET(v, 0, a) + PT_OFFSET(v, 1, b) + PT_OFFSET(v, 2, c))
#define PT_AT_4(v, a, b, c, d)                                                                     \
    PT_ELEMENT(v, PT_OFFSET(v, 0, a) + PT_OFFSET(v, 1, b) + PT_OFFSET(v, 2, c) + PT_OFFSET(v, 3, d))

/* Lists of up to eight macro arguments. PT_EACH(M, x, a, b) is M(x, 0, a) M(x, 1, b). */
#define PT_CAT(a, b)                                 PT_CAT_(a, b)
#define PT_CAT_(a, b)                                a##b
#define PT_APPLY(M, arguments)                       M arguments
#define PT_UNPACK(...)                               __VA_ARGS__
#define PT_COUNT(...)                                PT_NINTH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PT_NINTH(a, b, c, d, e, f, g, h, ninth, ...) ninth
#define PT_EACH(M, x, ...)                           PT_CAT(PT_EACH_, PT_COUNT(__VA_ARGS__))(M, x, __VA_ARGS__)
#define PT_EACH_1(M, x, a)                           M(x, 0, a)
#define PT_EACH_2(M, x, a, b)                        PT_EACH_1(M, x, a) M(x, 1, b)
#define PT_EACH_3(M, x, a, b, c)                     PT_EACH_2(M, x, a, b) M(x, 2, c)
#define PT_EACH_4(M, x, a, b, c, d)                  PT_EACH_3(M, x, a, b, c) M(x, 3, d)
#define PT_EACH_5(M, x, a, b, c, d, e)               PT_EACH_4(M, x, a, b, c, d) M(x, 4, e)
#define PT_EACH_6(M, x, a, b, c, d, e, f)            PT_EACH_5(M, x, a, b, c, d, e) M(x, 5, f)
#define PT_EACH_7(M, x, a, b, c, d, e, f, g)         PT_EACH_6(M, x, a, b, c, d, e, f) M(x, 6, g)
#define PT_EACH_8(M, x, a, b, c, d, e, f, g, h)      PT_EACH_7(M, x, a, b, c, d, e, f, g) M(x, 7, h)

#include <polytile/kernel_host.h>

#endif
