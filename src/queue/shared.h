#ifndef POLYTILE_QUEUE_SHARED_H
#define POLYTILE_QUEUE_SHARED_H

#include "queue/queue.h"

/**
 * Whether superblocks of a launch fit the arena where an array stands for several operands: these
 * share a piece that contains what lies between them, which may be more than the pieces that the
 * launch was cut for.
 *
 * Errors  NO_FIT, with the bytes that a superblock needs.
 */
polytile_status pti_shared_check(polytile_context *ctx, const pti_prepared *prepared,
                                 const pti_partition *partition, int64_t arena_bytes);

#endif
