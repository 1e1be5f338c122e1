#ifndef POLYTILE_LAUNCH_HOST_CHAIN_H
#define POLYTILE_LAUNCH_HOST_CHAIN_H

#include "launch/device/execution.h"

/* Many short launches in place, one after the other, in one parallel region: to begin one for each
 * launch takes about as long as a slab in the caches takes to compute. */

/** Return whether an execution has only launches in place, more than a few, by host functions,
 * without reductions. */
bool pti_host_chain_suits(const pti_execution *execution);

/** Run all its operations on at most n_threads threads. Each launch is cut as pti_host_launch()
 * cuts it, and ends before the next begins. False: memory ran out, and nothing was run. */
bool pti_host_chain_run(pti_execution *execution, int n_threads);

#endif
