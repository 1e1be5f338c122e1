#ifndef POLYTILE_LAUNCH_HOST_BOX_COPY_H
#define POLYTILE_LAUNCH_HOST_BOX_COPY_H

#include "access/set/slide.h"
#include "launch/device/device.h"

/** The parts in which a move is made: several where elements move along their own memory. */
pti_slide pti_move_slide(const pti_move *move);

/**
 * Copy the elements of a box between two places of host memory, which overlap at most as those of
 * access/set/slide.h.
 *
 * Rows that are contiguous in both are copied as one; large boxes by up to n_threads threads.
 */
void pti_box_copy(const pti_move *move, int n_threads);

#endif
