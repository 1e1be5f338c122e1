#ifndef BENCH_MPI_ROUNDS_SLOTS_H
#define BENCH_MPI_ROUNDS_SLOTS_H

#include <polytile/mpi.h>

enum { ROUNDS_MOST_ARRAYS = 3, ROUNDS_MOST_DIMS = 3 };

/** An array of a launch; its first dimension is that of the slots. */
typedef struct rounds_array {
    const char *name;
    polytile_type type;
    int n_dims;
    int64_t extents[ROUNDS_MOST_DIMS];
} rounds_array;

/** What one launch over all ranks has its slots do, one a rank that the layout names. */
typedef struct rounds_launch {
    const char *declaration;
    const polytile_implementation *implementation;
    const char *layout;
    int n_parameters;
    polytile_parameter parameter;
    int n_arrays;
    rounds_array arrays[ROUNDS_MOST_ARRAYS];
} rounds_launch;

/** The program's part: rank 0 calls it while the slots run. */
typedef void rounds_talk(polytile_context *ctx, polytile_queue *queue, void *user);

typedef struct rounds_slots {
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *arrays[ROUNDS_MOST_ARRAYS];
} rounds_slots;

/* These end the program after an error. */
void rounds_slots_begin(rounds_slots *s, const rounds_launch *launch, const char *device);
/** talk: NULL on ranks that say nothing. */
void rounds_slots_run(const rounds_slots *s, const rounds_launch *launch, rounds_talk *talk,
                      void *user);
void rounds_slots_end(rounds_slots *s);

#endif
