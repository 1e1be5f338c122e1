#include "launch/host_cache.h"

#include "base/checked.h"

#include <unistd.h>

/** Assumed where the system does not tell. */
enum { ASSUMED_BYTES = 8 << 20, SHARE_OF_LAST_LEVEL = 4 };

int64_t pti_host_cache_bytes(void) {
    int64_t last_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    int64_t second_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    int64_t n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t bytes = pti_max(last_bytes / SHARE_OF_LAST_LEVEL, second_bytes * n_cores);
    return bytes > 0 ? bytes : ASSUMED_BYTES;
}
