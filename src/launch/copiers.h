#ifndef POLYTILE_LAUNCH_COPIERS_H
#define POLYTILE_LAUNCH_COPIERS_H

#include "launch/device.h"

/* Host threads that copy boxes in the background. */

typedef struct pti_copiers pti_copiers;

/** One copy, in memory of the caller's that stays put until it is done. */
typedef struct pti_copy_task {
    polytile_domain box;
    pti_layout to_layout;
    pti_layout from_layout;
    pti_move move;    /* its pointers lead into this task */
    bool keeps_cache; /* false: the destination is not read soon, so stores go past the cache */
    bool is_done;     /* see pti_copiers_is_done() */
    struct pti_copy_task *next;
} pti_copy_task;

/** Errors: NO_MEMORY; DEVICE (the threads do not start; the text says how many did). */
polytile_status pti_copiers_create(polytile_context *ctx, int n_threads, pti_copiers **copiers);

/** Finish what was submitted and end the threads; NULL does nothing. */
void pti_copiers_destroy(pti_copiers *copiers);

/** Hand over a copy; tasks are begun in the order in which they come. */
void pti_copiers_submit(pti_copiers *copiers, pti_copy_task *task);

/** Whether a task is done; what it wrote can then be read. */
bool pti_copiers_is_done(const pti_copy_task *task);

/** Wait until every submitted task is done. */
void pti_copiers_wait(pti_copiers *copiers);

#endif
