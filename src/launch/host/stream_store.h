#ifndef POLYTILE_LAUNCH_HOST_STREAM_STORE_H
#define POLYTILE_LAUNCH_HOST_STREAM_STORE_H

#include <stdint.h>

/* Copies whose destination is not read soon: where the processor has such stores, they go past its
 * caches. They spare the read of each line that is overwritten whole, and leave what is in the
 * caches there. One file a processor, chosen by CMake. */

/** Copy bytes between memories that do not overlap; call pti_stream_fence() after the last. */
void pti_stream_copy(void *to, const void *from, int64_t n_bytes);

/** Let other threads see what this one has copied once they see what it stores from now on. */
void pti_stream_fence(void);

#endif
