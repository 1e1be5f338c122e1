#ifndef POLYTILE_LAUNCH_DEVICE_PROGRESS_H
#define POLYTILE_LAUNCH_DEVICE_PROGRESS_H

#include "partition/schedule/schedule.h"

/*
 * A line on the terminal for long runs:
 *
 *     add  [#####...........] 123/400 superblocks  52.1 GB/s  3 s left
 *     add  [#####...........] 31 %  3 s left
 *
 * The second is that of a launch in one piece.
 *
 * It is on stderr, if that is a terminal that can wipe a line, from two seconds after the run began
 * until its end, at most ten times a second.
 */

/** What is done of the current run. */
typedef struct pti_progress {
    const pti_schedule *whole;    /* borrowed, as is the next */
    const pti_schedule *schedule; /* the same, or the stretch of it that runs */
    double start_s;
    double due_s;                    /* when to draw next; infinite: never */
    bool is_shown;                   /* there is a line to wipe */
    int64_t n_done[PTI_MAX_STREAMS]; /* operations of the schedule, from its first, of which those
                                        of the stream are done */
    int64_t n_counted[PTI_MAX_STREAMS]; /* of these, in the sums below */
    int64_t bytes_done;                 /* moved between host and device, both ways */
    int64_t threads_done;
    int64_t threads_within;   /* of the launch in progress */
    int64_t superblocks_done; /* computed */
    int64_t bytes_total;      /* of the whole; 0 until the line is drawn first */
    int64_t threads_total;
} pti_progress;

pti_progress pti_progress_begin(const pti_schedule *schedule);

/** Begin a stretch of the schedule, or all of it, where that is flat. */
void pti_progress_begin_stretch(pti_progress *progress, const pti_schedule *stretch);

/** The stretch is done. It is not looked at any more: who runs it may free it. */
void pti_progress_end_stretch(pti_progress *progress);

/** Return whether a line may be drawn before the run ends. */
bool pti_progress_may_show(const pti_progress *progress);

/** Record that an operation is done, and those of its stream before it. */
void pti_progress_update(pti_progress *progress, int64_t op_index);

/** Draw the line if it is due. */
void pti_progress_show(pti_progress *progress);

/** Draw the line if it is due, when n_threads threads of the launch in progress have run. */
void pti_progress_show_within(pti_progress *progress, int64_t n_threads);

/** Wipe the line. */
void pti_progress_end(pti_progress *progress);

/** Print the line at a time of pti_now_s(), in fewer than n_columns columns; leaves out what does
 * not fit, the bar first. text has room for n_columns characters. */
void pti_progress_print(pti_progress *progress, double now_s, int n_columns, char *text);

#endif
