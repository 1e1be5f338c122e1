#include "launch/host/host.h"

#include "base/checked.h"

#include <unistd.h>

/** The most bytes of a last level that count for a core: the level may be that of many cores,
 * perhaps of other machines, too. */
enum { SHARE_OF_LAST_LEVEL = 4, SHARE_OF_CORE_BYTES = 4 << 20 };

/** What a core is taken to have where the system does not say. */
enum { CORE_BYTES = 256 << 10 };

int64_t pti_host_core_cache_bytes(void) {
    const int64_t n_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return n_bytes > 0 ? n_bytes : CORE_BYTES;
}

int64_t pti_host_cache_bytes(void) {
    int64_t n_cores = pti_max(sysconf(_SC_NPROCESSORS_ONLN), 1);
    int64_t last_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE) / SHARE_OF_LAST_LEVEL;
    int64_t second_bytes = sysconf(_SC_LEVEL2_CACHE_SIZE) * n_cores;
    int64_t share_bytes = SHARE_OF_CORE_BYTES * n_cores;
    return pti_max(second_bytes, last_bytes > 0 ? pti_min(last_bytes, share_bytes) : share_bytes);
}
