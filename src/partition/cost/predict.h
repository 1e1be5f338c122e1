#ifndef POLYTILE_PARTITION_COST_PREDICT_H
#define POLYTILE_PARTITION_COST_PREDICT_H

#include "partition/schedule/schedule.h"
#include <polytile/plan.h>

/* partition/cost: what ways of cutting cost: how a grid of blocks is cut (grid.h), the memory
 * that pieces demand (demand.h), and here the bytes and the time of a schedule. */

/** What a schedule moves. */
typedef struct pti_traffic {
    int64_t h2d_bytes;
    int64_t d2h_bytes;
} pti_traffic;

pti_traffic pti_schedule_traffic(const pti_schedule *schedule);

/** The factor by which its runs make a transfer dearer than one contiguous one, at least 1. */
double pti_run_cost(const polytile_link *link, pti_runs runs);

/** The seconds of a copy on the device, in the stream of the uploads. */
double pti_copy_seconds(const polytile_link *link, double n_bytes);

/** The elements that one thread in the middle of a launch touches, as boxes. */
double pti_thread_accesses(const pti_instance *instance);

/** The bytes of all that a launch touches, those that it reads and writes counted twice. */
double pti_launch_bytes(const pti_instance *instance);

/** Whether one thread in the middle of a launch reads more than one element of an array. */
bool pti_reads_neighbours(const pti_instance *instance);

/** How often a kernel goes through a piece of device memory: twice where it reads and writes it. */
int pti_operand_passes(const pti_operand *operand);

/** Whether many threads of a launch combine into, or write, one element of an operand: it stays in
 * registers while they do. */
bool pti_operand_accumulates(const pti_instance *instance, int operand);

/** The seconds that kernels take to bring so many bytes of their footprints into their caches and
 * to make so many accesses there. */
double pti_kernel_seconds(const polytile_link *link, double touched_bytes, double n_accesses);

/** The seconds that kernels take besides, because of so many bytes of accumulators: for getting
 * them into registers and back, and for having too few of them at work at each kernel's end.
 *
 * accumulated_bytes: on both ways, if they go both.
 * kernel_s: what the kernels take without that. */
double pti_accumulate_seconds(const polytile_link *link, double accumulated_bytes, double n_kernels,
                              double kernel_s);

/**
 * The seconds a schedule takes on its streams over a link: each operation starts when its stream
 * and all it waits for are done. Both ways share the link as soon as there are two superblocks.
 *
 * Errors: negative when memory runs out.
 */
double pti_schedule_predict(const pti_schedule *schedule, const polytile_link *link);

#endif
