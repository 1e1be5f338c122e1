#ifndef POLYTILE_QUEUE_LOOKED_UP_H
#define POLYTILE_QUEUE_LOOKED_UP_H

#include "queue/queue.h"

/* Index arrays of a queue, which the inspector reads on the host. Attached memory stays as it is, so what
 * it found is kept with the prepared launch until the array is detached. */

/**
 * Refuse a launch whose index arrays the inspector cannot read, or of which the host has older elements.
 *
 * Errors  UNSUPPORTED (a queue of several devices or ranks; POLYTILE_CHECK=attach closes the memory; a
 *         launch of the queue has written the array since it was attached).
 */
polytile_status pti_queue_check_looked_up(const polytile_queue *queue, const pti_request *request);

/** Note which arrays a launch writes that is about to be queued. */
void pti_queue_note_written(polytile_queue *queue, const pti_prepared *prepared);

#endif
