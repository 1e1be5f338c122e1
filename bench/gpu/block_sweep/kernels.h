#ifndef BENCH_GPU_BLOCK_SWEEP_KERNELS_H
#define BENCH_GPU_BLOCK_SWEEP_KERNELS_H

#include <polytile/implementation.h>
#include <polytile/tuning.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels whose thread blocks are swept, each one body of polytile/kernel.h. */

/** A kernel over cubes: its arrays have extent elements along each of n_dims dimensions, the last
 * one is written; its threads are the elements without a border. */
typedef struct sweep_kernel {
    const char *name;
    const polytile_implementation *implementation;
    polytile_character character;
    int n_dims;
    int n_arrays;
    int64_t extent;
    int64_t border;
} sweep_kernel;

enum { SWEEP_N_KERNELS = 11, SWEEP_MOST_ARRAYS = 3 };

/** Of kernels with one character and number of dimensions the first is the one that a table's row
 * is made of; the others show whether it holds for them. */
extern const sweep_kernel sweep_kernels[SWEEP_N_KERNELS];

#ifdef __cplusplus
}
#endif

#endif
