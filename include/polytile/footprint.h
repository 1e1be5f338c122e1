#ifndef POLYTILE_FOOTPRINT_H
#define POLYTILE_FOOTPRINT_H

#include <polytile/launch.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What some threads of a kernel touch, array by array. */
typedef struct polytile_footprint polytile_footprint;

/**
 * What they touch of one array: the elements, and what a device holds of it for them.
 *
 * Boxes have steps; none has an element of another one. A piece is the smallest box around sections
 * that stay together; where there are several, sections move apart or lie far apart, and all pieces
 * together are smaller than the hull, the smallest box around everything.
 */
typedef struct polytile_array_footprint {
    int n_boxes; /* 0: nothing is touched */
    const polytile_domain *boxes;
    bool
        is_exact; /* else the boxes have more elements than are touched: to say which takes too many
                      boxes, or the declaration does not */
    int n_pieces; /* 1: it is held in one; no piece is empty, unless it is the only one */
    const polytile_domain *pieces;
    polytile_domain hull;
    int64_t reserved[4]; /* zeros */
} polytile_array_footprint;

/**
 * Find what a box of a kernel's threads touches.
 *
 * Shapes  threads: as if they were the whole launch; nothing is computed thread by thread. arrays,
 *         options: as polytile_plan_create(); arrays need no memory, and how to plan is ignored.
 * Errors  as polytile_plan_create(), without NO_FIT.
 * Owns    The context; the caller may end it sooner with polytile_footprint_destroy(). On errors
 *         *footprint is NULL.
 */
polytile_status polytile_footprint_create(const polytile_kernel *kernel,
                                          const polytile_domain *threads, int n_arrays,
                                          polytile_array *const *arrays,
                                          const polytile_launch_options *options,
                                          polytile_footprint **footprint);

/** End a footprint; NULL does nothing. */
void polytile_footprint_destroy(polytile_footprint *footprint);

/** Get what is touched of the kernel's array with this number, until the footprint ends; NULL: it
 * has no such array. */
const polytile_array_footprint *polytile_footprint_get_array(const polytile_footprint *footprint,
                                                             int array);

#ifdef __cplusplus
}
#endif

#endif
