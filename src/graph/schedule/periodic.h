#ifndef POLYTILE_GRAPH_SCHEDULE_PERIODIC_H
#define POLYTILE_GRAPH_SCHEDULE_PERIODIC_H

#include <stdbool.h>
#include <stdint.h>

/* graph/schedule: when each task of a stream of frames starts, how many frames each buffer holds,
 * and where buffers lie; numbers alone, nothing of graphs. Time is in ticks, whole numbers, so that
 * comparisons are exact. */

/** Starts, and a task's delays in periods, stay below this: who chooses a tick makes it long
 * enough. */
#define PTI_MOST_TICKS (INT64_C(1) << 60)

/** Return the ticks of n_periods, at most PTI_MOST_TICKS. Depths that users give are unbounded; an
 * edge that allows so great a distance demands nothing either way. */
int64_t pti_periods_to_ticks(int64_t n_periods, int64_t period);

/** A firing or a transfer, once a frame; where frames go in turn over several units, once a round,
 * which is as many consecutive frames as there are turns. */
typedef struct pti_task {
    int resource; /* that it has alone while it runs; -1: none */
    int64_t ticks;
    int turn; /* its frame of a round, from 0 */
} pti_task;

/** A task that reads a buffer: for frame f it reads frame f - delay. */
typedef struct pti_buffer_reader {
    int task;
    int delay;
} pti_buffer_reader;

/** What one task makes of an array in one memory. Its frames live from the producer's start to the
 * end of the last reader, or of the producer where nothing reads them. */
typedef struct pti_frame_buffer {
    int producer;
    int first_reader; /* in the list of readers */
    int n_readers;
    int64_t frame_bytes;
    int64_t depth; /* frames that it holds; 0: as few as possible */
} pti_frame_buffer;

/** Tasks stand after those that they read without delay. */
typedef struct pti_stream_tasks {
    int n_tasks;
    pti_task *task; /* owned */
    int n_buffers;
    pti_frame_buffer *buffer; /* owned */
    int n_readers;
    pti_buffer_reader *reader; /* owned */
    int n_resources;
    int n_turns; /* frames of a round, which all periods and delays here count; 0 and 1: a frame is
                   a round */
} pti_stream_tasks;

/** Return how many frames are a round. */
static inline int pti_n_turns(const pti_stream_tasks *tasks) {
    return tasks->n_turns > 1 ? tasks->n_turns : 1;
}

/** Return the number of a task's frame in a round. */
static inline int64_t pti_frame_of_round(const pti_stream_tasks *tasks, int task, int64_t round) {
    return round * pti_n_turns(tasks) + tasks->task[task].turn;
}

void pti_stream_tasks_free(pti_stream_tasks *tasks);

/** What bounds a period from below. */
typedef enum pti_period_bound_kind {
    PTI_BOUND_WORK, /* the work of a resource */
    PTI_BOUND_CYCLE /* a cycle's ticks over its delays, given depths included */
} pti_period_bound_kind;

/** A lower bound of a period, and what it comes from. */
typedef struct pti_period_bound {
    int64_t ticks; /* at least 1 */
    pti_period_bound_kind kind;
    int resource; /* of PTI_BOUND_WORK; -1: there is no work */
    int task;     /* of PTI_BOUND_CYCLE: one on the cycle */
} pti_period_bound;

/** Find the bound. Returns false when memory runs out. */
bool pti_period_bound_find(const pti_stream_tasks *tasks, pti_period_bound *bound);

/** A periodic schedule: task t starts with frame f at start[t] + f * period. */
typedef struct pti_periodic {
    int64_t period;
    int64_t *start;    /* one a task, at least 0; owned */
    int64_t *capacity; /* frames, one a buffer; owned */
    bool is_least;     /* no schedule of this period has buffers of fewer bytes together */
} pti_periodic;

void pti_periodic_free(pti_periodic *schedule);

/** How a search for a schedule ended. */
typedef enum pti_found { PTI_FOUND, PTI_NONE_FOUND, PTI_FOUND_NO_MEMORY } pti_found;

/**
 * Find a schedule of a period, at least the bound, with buffers of few bytes: of the fewest,
 * proved, where the search is small enough to end.
 *
 * NONE_FOUND is proof only where is_least is set.
 */
pti_found pti_periodic_find(const pti_stream_tasks *tasks, int64_t period, pti_periodic *schedule);

/** Find the schedule that runs a frame after the other; its period is the ticks of all tasks,
 * unless depths or delays allow none. */
pti_found pti_periodic_find_serial(const pti_stream_tasks *tasks, pti_periodic *schedule);

/** Find the schedule in which task t starts offset[t] after a multiple of the period, as early as
 * buffers allow; -1: a task of no time, which starts as late as its readers allow. NONE_FOUND: a
 * cycle stands against it. */
pti_found pti_periodic_at_offsets(const pti_stream_tasks *tasks, int64_t period,
                                  const int64_t *offset, pti_periodic *schedule);

/** Return the frames that a buffer holds at most with these starts. */
int64_t pti_buffer_capacity(const pti_stream_tasks *tasks, int buffer, int64_t period,
                            const int64_t *start);

/** Return what is wrong of a schedule as a static text; NULL: it is right. For tests, and before a
 * schedule is used. */
const char *pti_periodic_find_fault(const pti_stream_tasks *tasks, const pti_periodic *schedule);

#endif
