#ifndef POLYTILE_QUEUE_LOOKED_UP_H
#define POLYTILE_QUEUE_LOOKED_UP_H

#include "queue/queue.h"

/* Index arrays of a queue, which the inspector reads on the host. Attached memory stays as it is,
 * so what it found is kept with the array, until that is detached or a launch writes it. */

/**
 * Wait until the host has the newest elements of a launch's index arrays, and forget what was found
 * in older ones. Does nothing where no launch of the queue has written them since the last time.
 *
 * A member's part of a launch needs none of it: the launch was inspected whole. Arrays of a queue
 * over several leave it and come back before, since each member has parts of them (queue/calls).
 *
 * Errors  UNSUPPORTED (POLYTILE_CHECK=attach closes the memory), NO_MEMORY; after a wait those of
 *         polytile_queue_wait().
 */
polytile_status pti_queue_await_looked_up(polytile_queue *queue, const pti_request *request);

/** Log that a launch waits for an index array. */
void pti_queue_say_awaited(const polytile_queue *queue, const polytile_kernel *kernel,
                           const polytile_array *array);

/** Note which arrays a launch writes that is about to be queued. */
void pti_queue_note_written(polytile_queue *queue, const pti_prepared *prepared);

#endif
