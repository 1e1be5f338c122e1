#ifndef POLYTILE_QUEUE_DETACH_H
#define POLYTILE_QUEUE_DETACH_H

#include "queue/queue.h"

/* How arrays leave a queue. */

/** Have the launches so far be the last that use an array: an item at the end brings back what they
 * wrote, or drops it if the array is internal. */
void pti_queue_begin_leaving(polytile_queue *queue, const polytile_array *array);

/** Wait for arrays that began to leave, and let go of them. */
void pti_queue_finish_leaving(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);

/**
 * End an array that is to be destroyed. An attached one is waited for, with a warning if launches
 * use it; so is an internal one if at_once. Else it leaves after its launches, and
 * pti_queue_release_ended() destroys it.
 *
 * Returns whether the array is free to be destroyed: not in the last case.
 */
bool pti_queue_end_array(polytile_array *array, bool at_once);

/** Destroy internal arrays that ended, as far as nothing of them is queued any more. */
void pti_queue_release_ended(polytile_queue *queue);

/** Let all arrays leave, and wait for that; internal ones are destroyed. */
void pti_queue_end_arrays(polytile_queue *queue);

#endif
