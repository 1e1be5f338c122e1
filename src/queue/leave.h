#ifndef POLYTILE_QUEUE_LEAVE_H
#define POLYTILE_QUEUE_LEAVE_H

#include "queue/queue.h"

/* How arrays leave a queue. */

/** Have the launches so far be the last that use an array: an item at the end brings back what they
 * wrote, or drops it if the array is internal. */
void pti_queue_begin_leaving(polytile_queue *queue, const polytile_array *array);

/** Wait for arrays that began to leave, and let go of them. */
void pti_queue_finish_leaving(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);

/**
 * An array is to be destroyed. An attached one leaves, with a warning if launches had still to run;
 * so does an internal one at once; else it leaves behind them, and pti_queue_release_ended()
 * destroys it.
 *
 * Returns whether the array is free to be destroyed: not in the latter case; nor, with an error in
 * the log, from a launcher that the queue runs, which would wait for itself.
 */
bool pti_queue_end_array(polytile_array *array, bool at_once);

/** Destroy internal arrays that ended, as far as nothing of them is queued any more. */
void pti_queue_release_ended(polytile_queue *queue);

/** Both for every array; internal ones are destroyed. */
void pti_queue_end_arrays(polytile_queue *queue);

#endif
