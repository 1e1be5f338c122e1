#ifndef POLYTILE_QUEUE_WORKER_RUN_BATCHES_H
#define POLYTILE_QUEUE_WORKER_RUN_BATCHES_H

#include "queue/queue.h"

/* The engine finds the batches of items (partition/window/engine.h); here they are run, and their
 * failures handled. */

/**
 * Have the engine plan items, from what is resident on, and run what it hands on. What was done is
 * added to a report, whose run_s is the time of the runs alone.
 *
 * After an error nothing is resident that the failed batch was planned with. What lay on the device
 * before, and the run left alone, is brought to the host. The arrays that lost elements, or that
 * the run had begun to write, are marked incomplete and named in the text.
 */
polytile_status pti_run_items(polytile_queue *queue, const pti_item *items,
                              polytile_report *report);

/** Bring everything back to the host, so that nothing is resident. Planning is not counted. Errors
 * as pti_run_items(). */
polytile_status pti_queue_flush(polytile_queue *queue, polytile_report *report);

/** Bring everything back after a failure, whose status is returned and whose text stays the first.
 * What cannot be brought back is lost. */
polytile_status pti_evict_all(polytile_queue *queue, polytile_status status,
                              polytile_report *report);

#endif
