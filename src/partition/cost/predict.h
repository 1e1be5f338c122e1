#ifndef POLYTILE_PARTITION_COST_PREDICT_H
#define POLYTILE_PARTITION_COST_PREDICT_H

#include "partition/schedule/schedule.h"
#include <polytile/plan.h>

/* partition/cost: how a grid of blocks is cut (grid.h), the memory that pieces demand (demand.h),
 * and here the bytes and the time of a schedule. */

/** What a schedule moves. */
typedef struct pti_traffic {
    int64_t h2d_bytes;
    int64_t d2h_bytes;
} pti_traffic;

pti_traffic pti_schedule_traffic(const pti_schedule *schedule);

/** Return by what factor runs slow a transfer down against a contiguous one, at least 1. */
double pti_run_cost(const polytile_link *link, pti_runs runs);

/** Return the seconds of a copy on the device, in the stream of the uploads. */
double pti_copy_seconds(const polytile_link *link, double n_bytes);

/** Return the elements that one thread in the middle of a launch touches, as boxes. */
double pti_thread_accesses(const pti_instance *instance);

/** Return the bytes that a launch touches; what it reads and writes counts twice. */
double pti_launch_bytes(const pti_instance *instance);

/** Return whether one thread in the middle of a launch reads more than one element of an array. */
bool pti_reads_neighbours(const pti_instance *instance);

/** Return how often a kernel goes through a piece: twice if it reads and writes it. */
int pti_operand_passes(const pti_operand *operand);

/** Return whether many threads of a launch combine into, or write, one element of an operand, which
 * then stays in registers. */
bool pti_operand_accumulates(const pti_instance *instance, int operand);

/** Return the seconds that kernels take to load touched_bytes into their caches and to make the
 * accesses there. */
double pti_kernel_seconds(const polytile_link *link, double touched_bytes, double n_accesses);

/** Return how many times as long a kernel takes of whose threads so many run at a time, if fewer do
 * than fill the device. fill_threads: how many would; 0: not known, as if all kernels filled it. */
double pti_unfilled_times(int64_t fill_threads, double n_threads);

/**
 * Return the seconds that accumulators cost on top: to load and store them, and because too few of
 * them are at work at each kernel's end.
 *
 * accumulated_bytes: of loads and stores together. kernel_s: what the kernels take without that.
 */
double pti_accumulate_seconds(const polytile_link *link, double accumulated_bytes, double n_kernels,
                              double kernel_s);

/**
 * Return the seconds of a schedule on its streams over a link. An operation starts when its stream
 * and all it waits for are done. Both ways share the link if there are two superblocks or more.
 *
 * fill_threads: as pti_unfilled_times() takes it.
 * Returns a negative number when memory runs out.
 */
double pti_schedule_predict(const pti_schedule *schedule, const polytile_link *link,
                            int64_t fill_threads);

#endif
