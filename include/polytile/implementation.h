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

/** What a kernel runs; a member left NULL is an implementation that is missing. */
typedef struct polytile_implementation {
    polytile_host_function *host;
    void *user;
} polytile_implementation;

#ifdef __cplusplus
}
#endif

#endif
