#ifndef POLYTILE_QUEUE_QUEUED_ARRAY_H
#define POLYTILE_QUEUE_QUEUED_ARRAY_H

#include "access/array/array.h"
#include "queue/guard.h"
#include "queue/items.h"

/* The arrays that a queue has. */

/** An array of the queue, at its position. */
typedef struct pti_queued_array {
    polytile_array *array; /* NULL: the position is free */
    pti_guard guard;       /* of attached memory */
    bool is_scratch;       /* the library's, for launches that have scratch: scratch.h */
    bool is_guarded;       /* POLYTILE_CHECK=attach: closed while nothing moves */
    bool is_used;          /* by a launch since it came, under the mutex */
    bool is_whole;    /* one image had room for it when the last window ended, under the mutex */
    bool is_written;  /* by a launch since it came; of the program's thread */
    bool is_wanted;   /* it is waited for, under the mutex */
    bool is_buried;   /* its newest elements are nowhere, since a queued launch overwrites them; of
                              the queue's thread */
    pti_boxes pulled; /* elements that the device has from others', and not the host; of the queue's
                         thread; owned */
    bool is_ended;    /* internal, and destroyed by the program; it is let go of later */
    int64_t n_items;  /* not done that use it, under the mutex; twice if used twice */
    pti_item *end_item; /* queued at its end, which then needs no memory; owned */
} pti_queued_array;

/** Wait for the window that runs, and let none begin, so that the program's thread can change the
 * queue's arrays; and let the queue's thread go on. */
void pti_queue_claim(polytile_queue *queue);
void pti_queue_unclaim(polytile_queue *queue);

/** Take a position for an array; is_shared: other queues have its memory, too. The arrays are
 * claimed. Errors: NO_MEMORY, INVALID (its memory cannot be guarded). */
polytile_status pti_queue_hold(polytile_queue *queue, polytile_array *array, bool is_shared);
/** Give the position back; nothing of the array is queued or resident. The arrays are claimed. */
void pti_queue_let_go(polytile_queue *queue, polytile_array *array);
/** Return whether the program has the array at a position: it may have destroyed an internal one
 * whose launches are still queued. */
bool pti_queue_has_array(const polytile_queue *queue, int position);

/** Give an internal array host memory, all zero, if it has none; it is freed with the array.
 * Errors: NO_MEMORY. */
polytile_status pti_queue_spill(polytile_queue *queue, polytile_array *array);

/** Take an array's memory out of the program's reach again, if it is guarded. A failure is only
 * logged: nothing is wrong with the results. */
void pti_close_guard(polytile_queue *queue, int position);

#endif
