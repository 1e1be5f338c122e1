#ifndef POLYTILE_LAUNCH_HOST_LAUNCH_H
#define POLYTILE_LAUNCH_HOST_LAUNCH_H

#include "launch/device.h"

/**
 * Run a kernel's host function over a box of threads with OpenMP.
 *
 * The box is cut into contiguous chunks that write apart. Where a reduction leaves no such cut,
 * chunks get private accumulators that are combined afterwards in the order of the chunks; where
 * those would be too large, one thread runs the whole box.
 */
void pti_host_launch(const pti_launch *launch, int n_threads);

#endif
