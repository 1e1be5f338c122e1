#ifndef POLYTILE_QUEUE_WORKER_RUN_SCHEDULE_H
#define POLYTILE_QUEUE_WORKER_RUN_SCHEDULE_H

#include "queue/queue.h"

/** The arrays that a schedule works on, for one run after another. */
typedef struct pti_bindings {
    polytile_queue *queue;
    polytile_array **array;    /* of each operand of the schedule's instance; owned, as below */
    bool *is_touched;          /* its host memory is, by the program's kernels or by moves */
    bool *has_begun;           /* to change, on a device with memory of its own */
    int64_t n_begun;           /* operations of the schedule that ran last which may have begun */
    polytile_array null_array; /* stands at free positions */
} pti_bindings;

/** Errors: NO_MEMORY. The caller frees what is in *bindings, which stays where it is, with
 * pti_bindings_free(), also after an error. */
polytile_status pti_bindings_create(polytile_queue *queue, pti_bindings *bindings);
void pti_bindings_free(pti_bindings *bindings);

/** Note that nothing has begun to change. */
void pti_bindings_reset(pti_bindings *bindings);

/**
 * Run a schedule over the queue's arrays.
 *
 * Shapes  position: of each operand of the schedule's instance, an array of the queue; NULL: its
 *         own number. configs: one a launch.
 * Errors  Those of the executor; NO_MEMORY and INVALID (memory that cannot be put in reach). In
 *         place the arrays left incomplete are named and marked; else bindings has what had begun
 *         to change.
 * Report  What was done is added.
 */
polytile_status pti_run_schedule(pti_bindings *bindings, const pti_schedule *schedule,
                                 const int *position, const pti_launch_config *configs,
                                 polytile_report *report);

/** Add up runs; of peak_device_bytes the larger counts. */
void pti_report_add(polytile_report *sum, const polytile_report *run);

#endif
