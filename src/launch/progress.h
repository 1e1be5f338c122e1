#ifndef POLYTILE_LAUNCH_PROGRESS_H
#define POLYTILE_LAUNCH_PROGRESS_H

#include "partition/schedule.h"

/* A line on the terminal for long runs: superblocks, GB/s, time left. */

typedef struct pti_progress {
    const pti_schedule *schedule;
    double start_s;
    double shown_s; /* when it was drawn last; 0: never */
    bool is_terminal;
} pti_progress;

/** A run begins; nothing is shown unless stderr is a terminal and the run takes over two seconds. */
pti_progress pti_progress_begin(const pti_schedule *schedule);

/** The operation at this place of the schedule is done, and so are those of its stream before it;
 * draws at most ten times a second. */
void pti_progress_update(pti_progress *progress, int64_t op_index, int64_t bytes_moved);

/** Wipe the line. */
void pti_progress_end(pti_progress *progress);

#endif
