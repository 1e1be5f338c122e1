#ifndef POLYTILE_LAUNCH_HOST_SLICES_H
#define POLYTILE_LAUNCH_HOST_SLICES_H

#include "launch/device/execution.h"

/*
 * A launch in place is one sub-kernel, and may take hours. So each host thread runs its part of it
 * in slices. Between them the run can be cancelled, and the terminal shows how far it is.
 */

/** A launch that runs in slices. Host threads share it; all but the first two members are
 * atomic. */
typedef struct pti_host_slices {
    pti_execution *execution;
    bool may_show;     /* there is a terminal */
    int64_t n_done;    /* threads that have run */
    bool is_cancelled; /* threads are left out */
    bool is_showing;   /* one host thread at a time draws */
} pti_host_slices;

/** Begin the next launch of a run. */
pti_host_slices pti_host_slices_begin(pti_execution *execution);

/** Run threads of a launch on the calling host thread, which is one of the launch's workers. */
typedef void pti_host_run_part(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                               const polytile_view *views, int worker);

/**
 * Run threads of a launch on the calling host thread, in slices if the launch has some.
 *
 * Slices begin small and grow until one takes some milliseconds. Where threads combine values, the
 * slices follow from the box alone, since sums of floating-point numbers depend on them.
 */
void pti_host_slices_run(const pti_sub_kernel *sub_kernel, const polytile_domain *threads,
                         const polytile_view *views, int worker, bool combines,
                         pti_host_run_part *run);

#endif
