#ifndef POLYTILE_IMPLEMENTATION_H
#define POLYTILE_IMPLEMENTATION_H

#include <polytile/domain.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The piece of an array that is resident for a sub-kernel, indexed by the array's own (global)
 * indices.
 *
 * Element [i0, i1, ...] is at (char *)origin + i0 * stride_bytes[0] + i1 * stride_bytes[1] + ...;
 * origin itself is where the element with all indices 0 would be, and need not be memory of ours. A
 * strided piece is stored without its gaps, so a stride may be smaller than an element; only the
 * indices in resident may be used.
 */
typedef struct polytile_view {
    void *origin;
    int64_t stride_bytes[POLYTILE_MAX_DIMS];
    polytile_domain resident;
} polytile_view;

/**
 * Run every thread of a box on the host; called by several OpenMP threads at once on disjoint
 * boxes.
 *
 * Shapes  threads: a box of the launch domain, steps 1; views: one an array, in the declaration's
 *         order.
 */
typedef void polytile_host_function(const polytile_domain *threads, const polytile_view *views,
                                    void *user);

/** What a body takes an array for: bytes of one element, and its number of dimensions. */
typedef struct polytile_view_shape {
    int64_t element_bytes;
    int n_dims;
} polytile_view_shape;

/**
 * What a kernel runs; a function left NULL is an implementation that is missing.
 *
 * The rest says what the body was written for, to be compared with the declaration and the arrays.
 * POLYTILE_KERNEL() fills it in; functions written by hand may leave it 0 and NULL.
 *
 * Shapes  n_indices: of a thread, 0 if unknown; views: n_views of them, one an array in the
 *         declaration's order, NULL if unknown.
 * Owns    views stays the caller's and must live as long as the kernels made with it.
 */
typedef struct polytile_implementation {
    polytile_host_function *host;
    void *user;
    int n_indices;
    int n_views;
    const polytile_view_shape *views;
} polytile_implementation;

#ifdef __cplusplus
}
#endif

#endif
