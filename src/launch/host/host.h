#ifndef POLYTILE_LAUNCH_HOST_HOST_H
#define POLYTILE_LAUNCH_HOST_HOST_H

#include "launch/device/device.h"

/* launch/host: the host as a device, in place or with a memory of its own, and what copies and
 * fills boxes in host memory. The only room that knows OpenMP. */

/* The parts of the host device that are files of their own. */

/** OpenMP's number of threads. One in OMP_NUM_THREADS that an int has no room for counts as given,
 * not as what OpenMP makes of it. */
int64_t pti_host_wanted_threads(void);

/** The same, 1 to PTI_MAX_THREADS. */
int pti_host_default_threads(void);

/** Make that at most a number, unless OMP_NUM_THREADS or the program has said how many; returns
 * what it was, to be restored. */
int pti_host_lower_threads(int most_threads);
void pti_host_restore_threads(int n_threads);

/**
 * Prove that this many threads can run at once, since OpenMP ends the process when they cannot.
 *
 * Errors  DEVICE: the text has the number wanted, the number started and the reason.
 */
polytile_status pti_host_probe_threads(polytile_context *ctx, int n_threads);

/** The host's entry of polytile_devices_list(), with its memory's rates measured now. */
polytile_status pti_host_list(polytile_context *ctx, int capacity, polytile_device_info *infos,
                              int *n_devices);

#endif
