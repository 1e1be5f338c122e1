#ifndef POLYTILE_LAUNCH_HOST_CHAIN_H
#define POLYTILE_LAUNCH_HOST_CHAIN_H

#include "launch/device/execution.h"

/* Many short launches in place, which threads that stay awake run one after the other. A parallel
 * region a launch takes about as long to begin as a slab that stays in the caches takes to compute.
 */

/** Whether an execution is of launches in place only, more than a few, that host functions run and
 * that reduce nothing. */
bool pti_host_chain_suits(const pti_execution *execution);

/** Run all its operations on at most n_threads threads. Each launch is cut as pti_host_launch()
 * cuts it, and ends before the next begins. False when memory runs out and nothing was run. */
bool pti_host_chain_run(pti_execution *execution, int n_threads);

#endif
