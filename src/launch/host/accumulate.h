#ifndef POLYTILE_LAUNCH_HOST_ACCUMULATE_H
#define POLYTILE_LAUNCH_HOST_ACCUMULATE_H

#include "launch/device/device.h"
#include "launch/host/chunk_grid.h"

/* Private copies of what concurrent chunks reduce into. */

/** The bytes that a launch touches of arrays that it does not reduce into; at least 1. */
int64_t pti_accumulators_touched_bytes(const pti_sub_kernel *sub_kernel);

/** The most that all copies of one launch may take: some of the bytes that it touches beside, so
 * that filling and combining them takes little of its time, and a mebibyte in any case. */
int64_t pti_accumulators_most_bytes(const pti_sub_kernel *sub_kernel);

/** One chunk's copy of one operand. */
typedef struct pti_accumulator {
    int operand;
    pti_memory_layout layout; /* of what the chunk writes */
    int64_t offset_bytes;
} pti_accumulator;

/** The private copies of all chunks of a launch. */
typedef struct pti_accumulators {
    int n_private; /* operands that have copies */
    int64_t n_chunks;
    pti_accumulator *accumulator; /* [chunk * n_private + k]; owned, as all below */
    polytile_view *views;         /* [chunk * pti_sub_kernel_n_views() + view] */
    char *memory;
} pti_accumulators;

/** Return whether chunks may have copies of a reducing operand: its reduction is known, and its
 * array is in one piece. */
bool pti_accumulators_may_copy(const pti_sub_kernel *sub_kernel, int operand);

/**
 * Make copies of the reducing operands that a grid of chunks does not separate.
 *
 * Returns false, and leaves nothing behind, if they take more than may be, one
 * may have none, or memory runs out.
 */
bool pti_accumulators_create(const pti_sub_kernel *sub_kernel, const pti_chunk_grid *grid,
                             pti_accumulators *accumulators);

/** Let a body keep a reducing operand's element in a register, if it has one and nobody else uses
 * it meanwhile, which the caller knows. */
void pti_mark_alone(const pti_sub_kernel *sub_kernel, int operand, polytile_view *view);

/** Fill a chunk's copies with the identities, before its body runs: its thread touches them
 * first. */
void pti_accumulators_fill(const pti_accumulators *accumulators, const pti_sub_kernel *sub_kernel,
                           int64_t chunk);

/** Return in how many parts, which different threads may take, copies are combined. */
int64_t pti_accumulators_n_parts(const pti_accumulators *accumulators);

/** Combine the k-th of n parts of the copies into the operands, each element in C order of the
 * chunks: results are the same bits for the same number of threads. */
void pti_accumulators_combine(const pti_accumulators *accumulators,
                              const pti_sub_kernel *sub_kernel, int64_t k, int64_t n);

void pti_accumulators_free(pti_accumulators *accumulators);

#endif
