#ifndef POLYTILE_LAUNCH_HOST_CACHE_SIZE_H
#define POLYTILE_LAUNCH_HOST_CACHE_SIZE_H

#include <stdint.h>

/** The bytes of data that the host's caches keep near all cores: what the second level holds, or of
 * the last level a quarter, but no more than 4 MiB a core (docs/time_skewing.md has the
 * measurements). */
int64_t pti_host_cache_bytes(void);

#endif
