#ifndef POLYTILE_LAUNCH_HOST_COPY_COPIERS_H
#define POLYTILE_LAUNCH_HOST_COPY_COPIERS_H

#include "launch/device/device.h"

/* Host threads that copy boxes in the background. */

typedef struct pti_copiers pti_copiers;

/** One copy. The caller owns it, and what move points to, and must not move it until it is done. */
typedef struct pti_copy_task {
    pti_move move;
    bool keeps_cache;           /* false: the destination is not read soon */
    bool is_done;               /* atomic: see pti_copiers_is_done() */
    struct pti_copy_task *next; /* of those that wait for a thread */
} pti_copy_task;

/** Create threads. Errors: NO_MEMORY; DEVICE (the threads do not start; the text says how many
 * did). */
polytile_status pti_copiers_create(polytile_context *ctx, int n_threads, pti_copiers **copiers);

/** Finish all tasks and end the threads; NULL does nothing. */
void pti_copiers_destroy(pti_copiers *copiers);

/** Submit a copy; tasks begin in the order of submission. */
void pti_copiers_submit(pti_copiers *copiers, pti_copy_task *task);

/** Return whether a task is done: its results can be read, and the task be reused. */
bool pti_copiers_is_done(const pti_copy_task *task);

/**
 * Copy a box as pti_box_copy() does, by the calling thread and the copiers; done at the return.
 *
 * Between copies the copiers sleep, where OpenMP's threads would spin for milliseconds: for runs
 * whose launches are the program's own, which may use all cores. Nothing else is submitted.
 */
void pti_copiers_copy(pti_copiers *copiers, const pti_move *move);

/** Wait until every submitted task is done. */
void pti_copiers_wait(pti_copiers *copiers);

#endif
