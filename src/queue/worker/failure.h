#ifndef POLYTILE_QUEUE_WORKER_FAILURE_H
#define POLYTILE_QUEUE_WORKER_FAILURE_H

#include "queue/worker/run_schedule.h"

/* What a failure loses: elements that only the device had, and elements that a later launch of the
 * run would have written again, of which nobody has a version. Both are of arrays that were dirty
 * before the run, or that the run had begun to write. What is dirty and was left alone can be
 * saved. */

/** Which arrays are dirty, one entry a position; NULL when memory runs out, or there is none.
 * The caller frees it. */
bool *pti_dirty_list(const polytile_queue *queue);

/**
 * Mark arrays incomplete, and name them in the error's text: those of the list, and those that are
 * buried; without a list all. Nothing is resident afterwards.
 *
 * Returns status.
 */
polytile_status pti_lose(polytile_queue *queue, const bool *is_lost, polytile_status status);

/**
 * The same after a batch that failed; what of other arrays lay on the device before, and was left
 * alone, is brought to the host and not lost. failed: its schedule, NULL: it was not planned.
 *
 * Shapes  is_lost: one a position: was dirty before; changed.
 */
polytile_status pti_lose_batch(pti_bindings *bindings, const pti_schedule *failed, bool *is_lost,
                               polytile_report *report, polytile_status status);

/** Mark incomplete, and name, the arrays that are buried; does nothing where there are none. */
void pti_lose_buried(polytile_queue *queue, polytile_status status);

#endif
