#ifndef POLYTILE_LAUNCH_HOST_ACCUMULATE_H
#define POLYTILE_LAUNCH_HOST_ACCUMULATE_H

#include "launch/device/device.h"
#include "launch/host/cut.h"

/* Private copies of what concurrent chunks reduce into. */

/** The most that all copies of one launch may take. */
enum { PTI_MAX_PRIVATE_BYTES = 1024 * 1024 };

/** One chunk's copy of one operand. */
typedef struct pti_accumulator {
    int operand;
    pti_memory_layout layout; /* of what the chunk writes */
    int64_t offset_bytes;
} pti_accumulator;

typedef struct pti_accumulators {
    int n_private; /* operands that have copies */
    int64_t n_chunks;
    pti_accumulator *accumulator; /* [chunk * n_private + k]; owned, as all below */
    polytile_view *views;         /* [chunk * pti_sub_kernel_n_views() + view] */
    char *memory;                 /* filled with the identities */
} pti_accumulators;

/**
 * Make copies of the reducing operands that a cut does not separate.
 *
 * Returns false, and leaves nothing behind, if they take more than PTI_MAX_PRIVATE_BYTES, a
 * reduction is unknown, or memory runs out.
 */
bool pti_accumulators_create(const pti_sub_kernel *launch, const pti_cut *cut,
                             pti_accumulators *accumulators);

/** Combine the copies into the operands in C order of the chunks: results are the same bits for the
 * same number of threads. */
void pti_accumulators_combine(const pti_accumulators *accumulators, const pti_sub_kernel *launch);

void pti_accumulators_free(pti_accumulators *accumulators);

#endif
