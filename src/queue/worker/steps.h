#ifndef POLYTILE_QUEUE_WORKER_STEPS_H
#define POLYTILE_QUEUE_WORKER_STEPS_H

#include "queue/queue.h"

/* A window of a queue's items as the steps that the engine walks over. */

/** Steps with all that they refer to. */
typedef struct pti_steps {
    pti_step_window window; /* it borrows what is below, all of which is owned */
    pti_step *step;
    pti_asked *asked;          /* of each step */
    pti_launch_config *config; /* of each launch, in order */
    const pti_step *
        *later_use;       /* of each position the first step after these that uses it; NULL, or
                                one of them: none is known */
    pti_step *later_step; /* the steps that these are */
    pti_instance *arrays; /* in place: of all positions; else NULL */
    const char *name;     /* of the first launch, for errors; NULL: there is none */
} pti_steps;

/**
 * Make steps of items; in place those of launches alone: an array's memory is the only place that
 * it has. An internal array of which something is fetched gets host memory.
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees what is in *steps with pti_steps_free(), also after an error. It borrows
 *         the items, and what the queue has noted after them.
 */
polytile_status pti_steps_create(polytile_queue *queue, const pti_item *items, pti_steps *steps);

void pti_steps_free(pti_steps *steps);

#endif
