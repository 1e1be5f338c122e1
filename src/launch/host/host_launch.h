#ifndef POLYTILE_LAUNCH_HOST_HOST_LAUNCH_H
#define POLYTILE_LAUNCH_HOST_HOST_LAUNCH_H

#include "launch/device/device.h"
#include "launch/host/balance.h"
#include "launch/host/chunk_grid.h"

/**
 * Run a kernel's host function over a box of threads with OpenMP.
 *
 * The box is cut into contiguous chunks that write apart. Where these are rows, threads that are
 * done with theirs take some of others. If a reduction allows no such grid, chunks get private
 * copies, which are combined afterwards in the order of the chunks; if those are too large, one
 * thread runs the whole box. A launch that lacks scratch has host_scratch. habits: NULL: rows are
 * even.
 */
void pti_host_launch(const pti_sub_kernel *sub_kernel, int n_threads, pti_host_habits *habits);

/* Parts of pti_host_launch(). */

/** Return whether a launch combines into anything, so that not all cuts are allowed. */
bool pti_host_launch_reduces(const pti_instance *instance);

/** Return the grid of a launch that reduces nothing. */
pti_chunk_grid pti_host_launch_grid(const polytile_domain *threads, int n_threads);

/** Run the k-th chunk of a launch on the calling thread, as the launch's k-th worker. */
void pti_host_launch_chunk(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid, int64_t k);

/** Run any threads of a launch that reduces nothing on the calling thread, as one of the launch's
 * workers: no two of them have a number at the same time. */
void pti_host_launch_box(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                         int worker);

#endif
