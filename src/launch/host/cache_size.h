#ifndef POLYTILE_LAUNCH_HOST_CACHE_SIZE_H
#define POLYTILE_LAUNCH_HOST_CACHE_SIZE_H

#include <stdint.h>

/** Return the bytes that the host's caches keep near all cores: the second level, or a quarter of
 * the last, at most 4 MiB a core (docs/time_skewing.md has the measurements). */
int64_t pti_host_cache_bytes(void);

#endif
