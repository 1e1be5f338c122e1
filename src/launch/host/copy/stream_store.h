#ifndef POLYTILE_LAUNCH_HOST_COPY_STREAM_STORE_H
#define POLYTILE_LAUNCH_HOST_COPY_STREAM_STORE_H

#include <stdint.h>

/* Copies whose destination is not read soon. If the processor has such stores, they go past its
 * caches: lines that are overwritten whole are not read, and the caches keep their contents. One
 * file a processor, chosen by CMake. */

/** Copy bytes between memories that do not overlap; call pti_stream_fence() after the last. */
void pti_stream_copy(void *to, const void *from, int64_t n_bytes);

/** Order the copies before later stores: threads that see these see the copies, too. */
void pti_stream_fence(void);

#endif
