#ifndef POLYTILE_QUEUE_LEAVE_H
#define POLYTILE_QUEUE_LEAVE_H

#include "queue/queue.h"

/* How arrays leave a queue. */

/** Have the launches so far be the last that use an array: an item at the end brings back what they
 * wrote, or drops it if the array is internal. */
void pti_queue_begin_leaving(polytile_queue *queue, const polytile_array *array);

/** Wait for arrays that began to leave, and let go of them. */
void pti_queue_finish_leaving(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);

/** Both for an array that is being destroyed, with a warning if launches had still to run. */
void pti_queue_end_array(polytile_array *array);

/** Both for every array; internal ones are destroyed. */
void pti_queue_end_arrays(polytile_queue *queue);

#endif
