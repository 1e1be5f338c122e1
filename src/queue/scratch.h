#ifndef POLYTILE_QUEUE_SCRATCH_H
#define POLYTILE_QUEUE_SCRATCH_H

#include "queue/queue.h"

/**
 * Find the arrays over which a launch has its scratch, and fill in their positions.
 *
 * They are internal arrays of the queue's own that no launch reads or writes as arrays, so that
 * they get no host memory and nothing of them moves. Launches whose scratch has the same types and
 * extents use the same ones, PTI_QUEUE_SCRATCH of which are kept.
 *
 * Shapes  position: one an operand; those of arrays are filled in.
 * Errors  NO_MEMORY.
 */
polytile_status pti_queue_find_scratch(polytile_queue *queue, const pti_instance *instance,
                                       int *position);

enum { PTI_QUEUE_SCRATCH = 64 };

/** End the arrays for scratch of a queue over members, which runs nothing any more. */
void pti_queue_end_scratch(polytile_queue *queue);

#endif
