#ifndef BENCH_TASKS_TASKS_H
#define BENCH_TASKS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

/* Tasks that sleep, on two workers of different speeds. */

enum { N_TASKS = 512, N_WORKERS = 2 };

typedef enum task_kind {
    TASKS_EQUAL,
    TASKS_EXPONENTIAL,
    TASKS_TAIL,
    TASKS_GIANTS,
    N_KINDS
} task_kind;

/** As in a figure's subject. */
extern const char *const task_kind_names[N_KINDS];

typedef struct tasks {
    double cost_s[N_TASKS]; /* on a worker of speed 1 */
    double mean_s;
    double speed[N_WORKERS];
} tasks;

/** Draw tasks of a kind: as many seconds on average; the second worker is so many times slower. */
void tasks_draw(task_kind kind, unsigned seed, double mean_s, double slower, tasks *drawn);

/** Seconds of the best split into two runs of tasks, one a worker, by one that knows all costs. */
double tasks_best_split(const tasks *of);

/** Sleep for tasks first .. end - 1, as a worker does. */
void tasks_sleep(const tasks *of, int worker, int first, int end);

/** Sleep as exactly as the system can, in this thread. */
void tasks_sleep_exactly(void);

/** A way to run tasks; returns the seconds until all were done. */
typedef double run_tasks(const tasks *of);

/** One after the other from a counter that both workers read, written by hand. */
run_tasks run_from_counter;

/* starpu.c; starpu_missing.c where StarPU is not installed */

extern const bool has_starpu;

/** Start StarPU with two workers and a scheduler, and end it. */
void starpu_begin(const char *scheduler);
void starpu_end(void);
/** A task each, as StarPU's scheduler gives them out. */
run_tasks run_by_starpu;

#endif
