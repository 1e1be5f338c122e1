#ifndef POLYTILE_ACCESS_FOOTPRINT_SPLIT_H
#define POLYTILE_ACCESS_FOOTPRINT_SPLIT_H

#include "access/footprint/instance.h"
#include "base/context.h"

/** Which sections of an array stay together in one operand. */
typedef enum pti_together {
    PTI_TOGETHER_PARALLEL, /* those that follow the threads in the same way, however far apart */
    PTI_TOGETHER_NEAR,     /* and lie side by side, or nearly */
    PTI_N_TOGETHER
} pti_together;

/**
 * A copy of an instance in which sections of one array that do not stay together are operands of
 * their own, as if the array had been given for several names: the box around sections that lie far
 * apart is mostly elements that nobody touches.
 *
 * Only arrays that are read are split, and only those whose sections are exact. The first piece of
 * an array keeps its operand; the others come behind all arrays (pti_instance.n_further).
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees *split with pti_instance_free(); NULL: no array is split, or there would
 *         be more than POLYTILE_MAX_PIECES pieces; and on error.
 */
polytile_status pti_instance_split(polytile_context *ctx, const pti_instance *instance,
                                   pti_together together, pti_instance **split);

/** Return how many operands hold an array: one, or as many as it has pieces. */
int pti_instance_count_pieces(const pti_instance *instance, int array);

#endif
