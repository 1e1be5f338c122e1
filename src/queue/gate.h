#ifndef POLYTILE_QUEUE_GATE_H
#define POLYTILE_QUEUE_GATE_H

#include <polytile/queue.h>

/* Gates, behind which items wait until all members of a group have come to theirs. */

/** The most gates of a queue that are closed. */
enum { PTI_MOST_GATES = 8 };

/** Gates are numbered from 1; the oldest is opened first. What is queued behind one is planned, but
 * runs only once the gate is open: a group hands launches out behind gates while its members still
 * run those before. Under the mutex. */
typedef struct pti_gates {
    int64_t n_set;
    int64_t n_open;
    int64_t n_before[PTI_MOST_GATES]; /* items queued before each closed gate, by its number */
} pti_gates;

/** Return whether a queue has a closed gate behind which nothing is queued. */
bool pti_queue_stands_at_gate(polytile_queue *queue);

/** Set a closed gate behind what is queued; fewer than PTI_MOST_GATES are closed. */
void pti_queue_set_gate(polytile_queue *queue);

/** Wait until all that was queued before the oldest closed gate is done, or was passed behind a
 * failure. Does not report. */
void pti_queue_wait_at_gate(polytile_queue *queue);

/** Open the oldest closed gate. */
void pti_queue_open_gate(polytile_queue *queue);

/** Wait, as the queue's thread, until the gate before the window that runs is open. Errors: the
 * queue's, if it failed meanwhile: the window must not run. */
polytile_status pti_queue_pass_gate(polytile_queue *queue);

#endif
