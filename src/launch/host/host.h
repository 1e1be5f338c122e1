#ifndef POLYTILE_LAUNCH_HOST_HOST_H
#define POLYTILE_LAUNCH_HOST_HOST_H

#include "base/parallel.h"
#include "launch/device/device.h"
#include <stdint.h>

/* launch/host: the host as a device, in place or with an arena of its own: its threads, by OpenMP,
 * and how they share a launch. This header is what other rooms ask of it. */

extern const pti_driver pti_host_driver;

/** Return OpenMP's number of threads. One in OMP_NUM_THREADS that exceeds an int counts as given,
 * not as OpenMP reads it. */
int64_t pti_host_wanted_threads(void);

/** Return OpenMP's number of threads, clipped to 1 .. PTI_MAX_THREADS. */
int pti_host_default_threads(void);

/** Lower OpenMP's number of threads, unless OMP_NUM_THREADS or the program has set it; returns the
 * old one, to be restored. */
int pti_host_lower_threads(int most_threads);
void pti_host_restore_threads(int n_threads);

/**
 * Prove that this many threads can run at once; OpenMP ends the process if they cannot.
 *
 * Errors  DEVICE: the text has the number wanted, the number started and the reason.
 */
polytile_status pti_host_probe_threads(polytile_context *ctx, int n_threads);

/** Find the host's entry of polytile_devices_list(), with its memory's rates measured now. */
polytile_status pti_host_list(polytile_context *ctx, int capacity, polytile_device_info *infos,
                              int *n_devices);

/** Return the bytes that the host's caches keep near all cores: the second level, or a quarter of
 * the last, at most 4 MiB a core (docs/time_skewing.md has the measurements). */
int64_t pti_host_cache_bytes(void);

/** Return the bytes of the caches that a core has for itself. */
int64_t pti_host_core_cache_bytes(void);

/** Do work in parts by OpenMP's threads: a pti_parallel_function. */
void pti_host_run_parts(int64_t n_parts, pti_part_function *run, void *user);

#endif
