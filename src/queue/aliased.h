#ifndef POLYTILE_QUEUE_ALIASED_H
#define POLYTILE_QUEUE_ALIASED_H

#include "partition/choose/grain.h"
#include "queue/queue.h"

/** Return whether an array stands for several operands. */
bool pti_is_aliased(pti_call call);

/** The device memory of a superblock of these threads, whose operands of one array share images. */
int64_t pti_aliased_bytes(pti_call call, const polytile_domain *threads);

/**
 * Cut a launch of a queue for its arena, as pti_grain_choose() does. Where an array stands for
 * several operands, which share images, they need less than the planner counts: a launch that fits
 * whole then is not cut.
 */
polytile_status pti_aliased_cut(polytile_context *ctx, const pti_grain_request *request,
                                pti_partition *partition, int *way);

#endif
