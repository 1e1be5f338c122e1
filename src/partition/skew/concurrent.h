#ifndef POLYTILE_PARTITION_SKEW_CONCURRENT_H
#define POLYTILE_PARTITION_SKEW_CONCURRENT_H

#include "partition/skew/stream.h"

/* Slabs that run abreast: every other one has the second of the streams for launches, so that a
 * kernel begins while one of the slab before ends. */

/** Get ready; false when memory runs out. Freed with pti_skew_concurrent_end(). */
bool pti_skew_concurrent_begin(pti_skew_stream *of);
void pti_skew_concurrent_end(pti_skew_stream *of);

/** Whether slab k runs on the second stream. */
bool pti_skew_is_abreast(const pti_skew_stream *of, int64_t k);

/** Run all launches of slab k that have threads there. */
void pti_skew_run_launches(pti_skew_stream *of, int64_t k);

#endif
