#ifndef POLYTILE_LAUNCH_BOX_COPY_H
#define POLYTILE_LAUNCH_BOX_COPY_H

#include "launch/device.h"

/**
 * Copy the elements of a box between two host memories that do not overlap.
 *
 * Rows that are contiguous in both are copied as one; large boxes by up to n_threads threads.
 */
void pti_box_copy(const pti_move *move, int n_threads);

#endif
