#ifndef POLYTILE_QUEUE_FAILURE_H
#define POLYTILE_QUEUE_FAILURE_H

#include "queue/queue.h"

/* What a failure loses: elements that only the device held, or of which even that kept no version,
 * since a later launch of the run would have written them again: both are of arrays that were dirty
 * before the run, or that it had begun to write. What is dirty and not harmed by the run can be
 * saved. */

/** Which arrays are dirty, one an array held; NULL when memory runs out, or none is held.
 * The caller frees it. */
bool *pti_dirty_list(const polytile_queue *queue);

/**
 * Nothing is resident any more. The arrays of the list, and those that are buried, are marked
 * incomplete and named in the error's text; without a list all are.
 *
 * Returns status.
 */
polytile_status pti_lose(polytile_queue *queue, const bool *is_lost, polytile_status status);

/** The same of those that are buried alone; does nothing where there are none. */
void pti_lose_buried(polytile_queue *queue, polytile_status status);

/** End a queue, if there is one, after the failure that is the last error, which stays. Returns
 * status. */
polytile_status pti_queue_give_up(polytile_queue *queue, polytile_status status);

#endif
