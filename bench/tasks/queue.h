#ifndef BENCH_TASKS_QUEUE_H
#define BENCH_TASKS_QUEUE_H

#include "tasks.h"

/** Open a queue on two hosts with a thread each, which run tasks by a policy, a row a task; and
 * close it. Each run is of a kernel that was never seen. */
void queue_begin(const char *policy);
void queue_end(void);
run_tasks run_in_queue;

/** Seconds that a row takes which does nothing, with each row a piece. */
double time_empty_pieces(int n_rows);

#endif
