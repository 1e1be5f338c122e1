#ifndef POLYTILE_LAUNCH_HOST_CACHE_H
#define POLYTILE_LAUNCH_HOST_CACHE_H

#include <stdint.h>

/** The bytes of data that the host's caches keep near all threads while other programs run too: a
 * quarter of the last level, as measured in docs/time_skewing.md, or what the second level of all
 * cores holds if that is more. */
int64_t pti_host_cache_bytes(void);

#endif
