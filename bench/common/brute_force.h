#ifndef BENCH_COMMON_BRUTE_FORCE_H
#define BENCH_COMMON_BRUTE_FORCE_H

#include <polytile/domain.h>

/* The fewest sub-kernels by trying every superblock shape, from footprints written down by hand:
 * nothing here knows the library's footprints or its search. */

enum { BRUTE_MAX_OPERANDS = 3 };

/** The piece of an f32 array that a superblock of t[d] threads an index touches: one extent a
 * dimension, t[index] + halo, or `whole` where index is -1. */
typedef struct brute_operand {
    int n_dims;
    struct {
        int index;
        int64_t halo;
        int64_t whole;
    } dim[POLYTILE_MAX_DIMS];
} brute_operand;

typedef struct brute_problem {
    int n_indices;
    int64_t threads[POLYTILE_MAX_DIMS];
    int64_t block[POLYTILE_MAX_DIMS];
    int n_operands;
    brute_operand operand[BRUTE_MAX_OPERANDS];
} brute_problem;

/** The bytes of all operands of a superblock of shape[d] blocks an index. */
double brute_bytes(const brute_problem *problem, const int64_t *shape);

/**
 * The fewest superblocks of one shape that fit a limit with one buffer; 0 if none does.
 *
 * Every extent of all indices but the last is tried. Bytes only grow with an extent and numbers
 * only fall, so of the last index only the largest extent that fits matters, found by bisection.
 */
int64_t brute_fewest_kernels(const brute_problem *problem, int64_t limit_bytes);

#endif
