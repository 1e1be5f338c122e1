#ifndef BENCH_MPI_ROUNDS_CASE_H
#define BENCH_MPI_ROUNDS_CASE_H

#include "slots.h"

#include <stdint.h>

/* The cases of build/bench/rounds, for four ranks with a slot each unless they say else. */
enum { ROUNDS_RANKS = 4, ROUNDS_MOST_SOURCES = 3 };

typedef struct rounds_case rounds_case;

/** A way to do a case by hand. own: what this rank has of each array. */
typedef void rounds_by_hand(const rounds_case *of, void *const *own);

struct rounds_case {
    char subject[48];
    int n; /* the size: of a matrix or an image, along a side; bodies */
    rounds_launch launch;
    int n_arrays; /* of the launch, and those that programs alone have, after them */
    int64_t n_bytes[ROUNDS_MOST_ARRAYS]; /* of own */
    void (*fill)(const rounds_case *of, int rank, void *const *own);
    void (*begin_by_hand)(int rank); /* these two: NULL where there is nothing to do */
    void (*end_by_hand)(int rank);
    bool by_master; /* rank 0 hands out work to the slots of others; results are its last array */
    rounds_by_hand *by_hand;
    rounds_by_hand *other; /* another way by hand; NULL: there is none */
    const char *other_name;
    double other_target; /* of the speed of slots by that of the other way; 0: there is none */
    /* From the root of the sources, NULL behind the last one. The kernels come first. */
    const char *slots_sources[ROUNDS_MOST_SOURCES];
    const char *by_hand_sources[ROUNDS_MOST_SOURCES];
};

rounds_case rounds_cannon(void);
rounds_case rounds_nbody(int n_ranks, int n); /* of n bodies, on 2 or 4 ranks */
rounds_case rounds_mandelbrot(void);
/** The same of an image of 1024 x 1024 on GPUs, by many slots a rank; rank k > 0 has GPU
 * (k - 1) % n_gpus. By hand a row for a request, and the other way sixteen. */
rounds_case rounds_mandelbrot_on_gpus(int n_gpus);

/** What the program of rank 0 hands out: the rows of an n x n image to slots of other ranks. */
typedef struct rounds_master {
    int64_t n;
    int n_slots;
    int32_t *image;
} rounds_master;

/** A rounds_talk whose user is a rounds_master. */
void rounds_hand_out_rows(polytile_context *ctx, polytile_queue *queue, void *user);

#endif
