#ifndef POLYTILE_GRAPH_SCHEDULE_ORDER_H
#define POLYTILE_GRAPH_SCHEDULE_ORDER_H

#include "graph/schedule/periodic.h"

/* What tasks wait for when nobody looks at a clock: numbers alone.
 *
 * A task may run frame f once each task that it waits for has run its frame f - tokens. It waits
 * for what makes the frames that it reads; for all readers of the frame whose place it takes; and
 * where buffers share memory for all readers of the one before. The plan's schedule keeps all of
 * these waits, which is checked. So if each lane runs its tasks in the schedule's order, nothing
 * waits in a cycle, and no task starts later than the plan says as long as none takes longer than
 * planned. */

/** What one task waits for. */
typedef struct pti_firing_wait {
    int on; /* a task */
    int64_t tokens;
} pti_firing_wait;

/** The waits of all tasks, and the starts that keep them. */
typedef struct pti_firing_order {
    int n_tasks;
    int *first;            /* of each task in the list, and one more; owned */
    pti_firing_wait *wait; /* owned */
    int64_t period;        /* ticks */
    int64_t *start;        /* of each task with frame 0, in ticks; owned */
} pti_firing_order;

/** Return how many frames older than a task's own is the one that it waits for. */
static inline int64_t pti_frames_waited(const pti_stream_tasks *tasks, int task,
                                        const pti_firing_wait *wait) {
    return wait->tokens * pti_n_turns(tasks) + tasks->task[task].turn - tasks->task[wait->on].turn;
}

/** Where a buffer lies. */
typedef struct pti_firing_place {
    int memory;
    int colour;
} pti_firing_place;

/** Find the waits of a schedule. place: one a buffer. Returns false when memory runs out. */
bool pti_firing_order_find(const pti_stream_tasks *tasks, const pti_periodic *schedule,
                           const pti_firing_place *place, pti_firing_order *order);
void pti_firing_order_free(pti_firing_order *order);

/** Return what is wrong of an order as a static text; NULL: the schedule keeps all waits, and no
 * frame waits for a later one. */
const char *pti_firing_order_find_fault(const pti_stream_tasks *tasks,
                                        const pti_firing_order *order);

/** Return whether a task's frame comes before another task's in the schedule. */
bool pti_firing_comes_before(const pti_firing_order *order, int task, int64_t frame, int other,
                             int64_t other_frame);

#endif
