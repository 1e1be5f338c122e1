#ifndef POLYTILE_QUEUE_WORKER_WORKER_H
#define POLYTILE_QUEUE_WORKER_WORKER_H

#include "queue/queue.h"

/* queue/worker: what the thread of a queue does. It takes a window of items, has the engine plan it
 * (partition/window/engine.h), runs each batch that the engine hands on, and handles failures. This
 * header has the thread and its windows; run_batches.h has the batches. */

/** Start and end the queue's thread; ending runs what is queued. Errors: DEVICE. */
polytile_status pti_worker_start(polytile_queue *queue);
void pti_worker_stop(polytile_queue *queue);

/* window.c */

/**
 * Take from the queue what is planned together next: as much as is allowed from its beginning; or
 * only what pti_want says, if something is queued of arrays that are waited for. What is taken
 * shares no element that either writes with items that are left before it.
 *
 * Returns the list, in order, and notes in queue->later_item what is left; the mutex is locked.
 */
pti_item *pti_window_take(polytile_queue *queue);

/** Return whether anything is queued of arrays that are waited for; the mutex is locked. */
bool pti_window_has_wanted(const polytile_queue *queue);

/* run_window.c */

/** Have the engine plan a window, and run what it hands on, on the queue's thread; the mutex is
 * locked for the report alone. On error the text is in the calling thread's place for errors, what
 * was lost is marked incomplete, and nothing is resident. */
polytile_status pti_window_run(polytile_queue *queue, const pti_item *window);

/** Pass items that are not run, since something before them failed and nothing is resident: what
 * they say of the host's memory holds all the same. */
void pti_window_skip(polytile_queue *queue, const pti_item *items);

/* publish.c */

/** Tell linked devices what this one has newer than the host, as it is now; nothing runs on it. */
void pti_queue_publish(const polytile_queue *queue);

/* call_back.c */

/** Call the functions of items that are done, or after a failure. */
void pti_queue_call_back(polytile_queue *queue, const pti_item *items, polytile_status status);

/* arena_size.c */

/**
 * Size the device's arena for the queued arrays, and cut the launches of a window for it.
 *
 * The arena is all of the limit if the device's text asks for it, else what all arrays need
 * together, so that others can have the rest; less where the device refuses. What is resident goes
 * back to the host before the arena grows.
 *
 * Report  What was moved back is added to it.
 * Errors  NO_FIT (the device has not even memory for one block), NO_MEMORY, and those of a flush.
 */
polytile_status pti_arena_resize(polytile_queue *queue, const pti_item *window,
                                 polytile_report *report);

/** Let it grow as a window asked for that could not: while the device has what the host does not,
 * or others read from it. A window is done, and nothing of it was pulled that is not forgotten.
 * Report and errors as above. */
polytile_status pti_arena_grow_late(polytile_queue *queue, polytile_report *report);

#endif
