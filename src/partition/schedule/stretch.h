#ifndef POLYTILE_PARTITION_SCHEDULE_STRETCH_H
#define POLYTILE_PARTITION_SCHEDULE_STRETCH_H

#include "partition/schedule/schedule.h"

/*
 * A walk over a schedule in stretches: flat schedules that do, one after the other, what it does.
 *
 * The stretches of a flat schedule are the schedule itself. Those of one with a period are the
 * prologue, then some turns at a time, as many in each, and the few turns that are left with the
 * epilogue. What is carried from one to the next lies on the device after the one, and before the
 * other. A stretch begins when the one before it has ended.
 */

/** The most superblocks of a stretch, about: draining a pipeline and filling it again costs two of
 * them, and some microseconds. */
enum { PTI_STRETCH_SUPERBLOCKS = 2048 };

/** Turns first..end-1 of a schedule's period, or another part of it. */
typedef struct pti_stretch {
    int64_t first_turn, end_turn;
    bool is_prologue; /* and no turns */
    bool is_last;     /* with the epilogue after the turns */
} pti_stretch;

typedef struct pti_stretch_walk {
    const pti_schedule *schedule; /* borrowed */
    int64_t n_stretches;          /* so far */
    int64_t n_kernels_before;     /* sub-kernels of the stretches before the current one */
    pti_stretch stretch;          /* the current one of a schedule with a period */
    pti_schedule *made;           /* the same as a schedule; owned; NULL: none is */
    bool failed;                  /* memory ran out */
} pti_stretch_walk;

/** Begin a walk, before its first stretch. It is ended by pti_stretch_walk_end(). */
pti_stretch_walk pti_stretch_walk_begin(const pti_schedule *schedule);

/** Go on to the next stretch, which lives until the next call. NULL: there is none, or the walk has
 * failed. */
const pti_schedule *pti_stretch_walk_next(pti_stretch_walk *walk);

void pti_stretch_walk_end(pti_stretch_walk *walk);

/** How many turns the stretches of turns have: one of several launches, which does not wait for the
 * turn before. The last one, with the epilogue, has fewer, or none. */
int64_t pti_stretch_turns(const pti_schedule *schedule);

/** A stretch of a schedule with a period as a flat schedule, which borrows the instance; NULL when
 * memory runs out. The caller frees it. */
pti_schedule *pti_stretch_make(const pti_schedule *schedule, const pti_stretch *stretch);

#endif
