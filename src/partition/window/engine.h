#ifndef POLYTILE_PARTITION_WINDOW_ENGINE_H
#define POLYTILE_PARTITION_WINDOW_ENGINE_H

#include "partition/window/fusion_group.h"

/* The one walk over a window of steps. It finds the fusion group that begins with a step, hands on
 * what stands before it in batches that run one after the other, then the group's chain, and at the
 * end the rest. A queue runs the batches, a plan of several launches records them.
 *
 * A chain over resident arrays leaves them where they are. One that streams finds nothing resident
 * and leaves nothing: all arrays come to the host before it; so does a lone launch (lone.h). In
 * place launches are handed on one by one. */

/** Steps of a window that have one schedule. */
typedef struct pti_batch {
    const pti_step_window *window;
    int first; /* step of the window */
    int n_steps;
    const pti_step *step; /* these; or a flush of every array, before the first */
    int first_launch;     /* how many launches of the window come before it */
    int n_launches;       /* that it has */
    int n_single; /* steps from the first on that run one after the other, in this batch and in
                     those that follow at once; of a group: 0 */
    pti_fusion_group
        *group; /* whose launches are interleaved; NULL: they run one after the other */
    const pti_schedule *schedule; /* found by who takes the batch; NULL: not yet */
    pti_schedule *built;          /* the same, if it is not the residency's: it lives as long as the
                                     batch, unless who takes it sets NULL */
    pti_schedule *planned;        /* the same, if it is the residency's */
} pti_batch;

/** What becomes of batches. Each function returns its status, with a text. */
typedef struct pti_consumer {
    void *of;
    /** Find the group that begins with a step, a launch. It lives until the next call. */
    polytile_status (*find_group)(void *of, const pti_step_window *window, int first,
                                  pti_fusion_group **group);
    /** Cut launches into superblocks, since some will run one after the other. NULL: they are. */
    polytile_status (*cut)(void *of);
    /** Have a batch planned, and run or record it. A streaming chain may write elements that were
     * zero: if the batch has a schedule after that, the engine notes what the schedule brought to
     * the host. */
    polytile_status (*take)(void *of, pti_batch *batch);
    /** Say why a batch could not be planned: planners leave no text. */
    polytile_status (*explain)(void *of, const pti_batch *batch, polytile_status status);
} pti_consumer;

/** Hand on the steps of a window from one on, in order. Errors: those of the consumer. */
polytile_status pti_engine_run(const pti_step_window *window, int first,
                               const pti_consumer *consumer);

/** Hand on a batch that brings all arrays to the host. Errors: those of the consumer. */
polytile_status pti_engine_flush(const pti_step_window *window, const pti_consumer *consumer);

/**
 * Plan a batch to run one launch after the other, going on from what is resident. Does nothing for
 * a chain that begins elsewhere.
 *
 * Errors  As pti_residency_plan().
 */
polytile_status pti_batch_plan(pti_batch *batch);

/** Interleave the launches of a batch that is a group's; those over resident arrays, which are
 * planned, only where nothing moves between them. Errors: NO_MEMORY. */
polytile_status pti_batch_interleave(pti_batch *batch);

/**
 * Let launches of a planned batch run as one where the device has tiles and that pays; then those
 * of a group are not to be interleaved. A chain that streams has found its tiles before, and a plan
 * that was kept has its tiles. `why` gets what becomes of launches that alternate between two
 * arrays, if they are looked at.
 *
 * Errors  NO_MEMORY.
 */
polytile_status pti_batch_tile(pti_batch *batch, pti_text *why);

/** Return whether a batch is a chain whose data goes through the device, of which it leaves
 * nothing. */
bool pti_batch_streams(const pti_batch *batch);

/** The end of the batch of steps from first to end - 1 that run one after the other: no more than
 * PTI_PLAN_SUPERBLOCKS superblocks, unless one launch has more; and a lone launch has no other one
 * with it. */
int pti_batch_find_end(const pti_step *step, int first, int end);

#endif
