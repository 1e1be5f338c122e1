#ifndef POLYTILE_QUEUE_SHARED_H
#define POLYTILE_QUEUE_SHARED_H

#include "partition/choose/grain.h"
#include "queue/queue.h"

/** Whether an array stands for several operands. array: of each operand, a number that is its
 * array's alone. */
bool pti_shared_is_any(int n_operands, const int *array);

/** The device memory of a superblock of these threads, with one box an array. */
int64_t pti_shared_bytes(pti_call call, const polytile_domain *threads);

/**
 * Cut a launch of a queue for its arena, also where an array stands for several operands. These
 * share a piece around all of them, which may be more than the pieces that the planner counts. It
 * may be less, too: a launch that fits whole with shared pieces alone is not cut.
 *
 * Errors  As pti_grain_choose(); NO_FIT also with the bytes that a superblock needs.
 * Owns    The caller frees *partition with pti_partition_free().
 */
polytile_status pti_shared_cut(polytile_context *ctx, pti_call call,
                               const pti_grain_request *request, pti_partition *partition);

#endif
