#ifndef BENCH_GPU_QUEUE_STAGE_H
#define BENCH_GPU_QUEUE_STAGE_H

#include "gpu/problem.h"

/* A kernel's launches through a queue, on the first GPU or several. */

typedef struct queue_stage {
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *arrays[PROBLEM_MOST_ARRAYS];
    int n_arrays;
} queue_stage;

/** Trace the queues that are opened from now on: PREFIX-1.json, PREFIX-2.json. prefix: borrowed;
 * NULL traces none. What is measured then takes longer. */
void queue_stage_trace(const char *prefix);
/** Finish all of these traces. */
void queue_stage_end_traces(void);

/** Open a queue on cuda:0 with a limit and create the kernel. Units: bytes. */
void queue_stage_open(queue_stage *s, int64_t memory_bytes, const char *declaration,
                      const polytile_implementation *implementation);

/** The same on devices by their text. */
void queue_stage_open_on(queue_stage *s, const char *devices, const char *declaration,
                         const polytile_implementation *implementation);

/** The same, shared among them as the options say. */
void queue_stage_open_shared(queue_stage *s, const char *devices,
                             const polytile_share_options *share, const char *declaration,
                             const polytile_implementation *implementation);

/** End the queue and all that belongs to it. */
void queue_stage_close(queue_stage *s);

/** Wrap the next array of the kernel, of 32-bit floats. */
void queue_stage_wrap(queue_stage *s, int n_dims, const int64_t *extents, float *data);

void queue_stage_attach(const queue_stage *s);
void queue_stage_detach(const queue_stage *s);

/** Shapes: arrays in the declaration's order; NULL: as they were wrapped. */
void queue_stage_launch(const queue_stage *s, const polytile_domain *threads,
                        polytile_array *const *arrays);
void queue_stage_wait(const queue_stage *s);

/** What the queue did since the last call. */
polytile_report queue_stage_report(const queue_stage *s);

#endif
