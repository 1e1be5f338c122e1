#ifndef POLYTILE_LAUNCH_HOST_COLUMNS_H
#define POLYTILE_LAUNCH_HOST_COLUMNS_H

#include "launch/device/execution.h"

/* A chain in place whose slabs are cut into columns (partition/schedule/columns.h). A thread of the
 * host takes a column and goes through all slabs there, tile by tile, behind the thread that has
 * the column before; then it takes the next column that nobody has. So a thread that is slow, as
 * one whose core has other work, holds up nobody but those behind it, and takes fewer columns. */

/** Return whether the columns of an execution can run so: all launches are of host functions and
 * combine nothing, and find each array at one place. */
bool pti_host_columns_suit(const pti_execution *execution);

/** Run all its operations on at most n_threads threads. False: memory ran out, and nothing was
 * run. */
bool pti_host_columns_run(pti_execution *execution, int n_threads);

#endif
