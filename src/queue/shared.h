#ifndef POLYTILE_QUEUE_SHARED_H
#define POLYTILE_QUEUE_SHARED_H

#include "partition/choose/grain.h"
#include "queue/queue.h"

/** Whether an array stands for several operands. array: of each operand, a number that is its
 * array's alone. */
bool pti_shared_is_any(int n_operands, const int *array);

/** Device memory for a superblock of these threads with each array in one piece. */
int64_t pti_shared_bytes(const pti_prepared *prepared, const polytile_domain *threads);

/**
 * Cut a launch of a queue for its arena, also where an array stands for several operands: these
 * share a piece that contains what lies between them, which may be more than the pieces that the
 * planner counts, or, where one piece does not fit for each operand, less: then the launch is not
 * cut if it fits whole.
 *
 * Errors  As pti_grain_choose(); NO_FIT also with the bytes that a superblock needs.
 * Owns    The caller frees *partition with pti_partition_free().
 */
polytile_status pti_shared_cut(polytile_context *ctx, const pti_prepared *prepared,
                               const pti_grain_request *request, pti_partition *partition);

#endif
