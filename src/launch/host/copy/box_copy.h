#ifndef POLYTILE_LAUNCH_HOST_COPY_BOX_COPY_H
#define POLYTILE_LAUNCH_HOST_COPY_BOX_COPY_H

#include "access/set/overlapping_copy.h"
#include "launch/device/device.h"

/* launch/host/copy: copies and fills of boxes in host memory, by the calling thread and others, in
 * chunks and past the caches. box_copy.h copies a box at once; copiers.h has threads that copy in
 * the background. It knows nothing of launches. */

/** Return the slices of a move: several if elements move along their own memory. */
pti_overlapping_copy pti_move_overlapping(const pti_move *move);

/**
 * Copy the elements of a box between two places of host memory, which overlap at most as
 * access/set/overlapping_copy.h says.
 *
 * Rows that are contiguous in both are copied as one; large boxes by up to n_threads threads.
 */
void pti_box_copy(const pti_move *move, int n_threads);

/** Write the element with the given indices. */
typedef void pti_element_function(const int64_t *index, void *element, void *user);

/** Write every element of a box in host memory once; of large boxes by up to n_threads threads. */
void pti_box_fill(const pti_memory_span *to, const polytile_domain *box, int n_threads,
                  pti_element_function *element, void *user);

#endif
