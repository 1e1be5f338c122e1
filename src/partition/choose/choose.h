#ifndef POLYTILE_PARTITION_CHOOSE_CHOOSE_H
#define POLYTILE_PARTITION_CHOOSE_CHOOSE_H

#include "base/context.h"
#include "partition/choose/strategy.h"
#include "partition/cost/predict.h"
#include "partition/cut/partition.h"
#include "partition/schedule/schedule.h"

/* partition/choose: which way of cutting a launch is taken. Strategies rank candidates, the
 * search goes through them, and the best are compared by their whole schedules. grain.h does so
 * for queues. */

/** What was chosen for a launch: the schedule and how it came about. */
typedef struct pti_choice {
    pti_schedule *schedule;   /* owned by the caller */
    const pti_family *family; /* of its superblocks */
    pti_grid grid;
    pti_partition partition; /* without its superblocks, which the schedule has */
    pti_traffic traffic;
    double seconds;
    pti_solution
        solution; /* of a strategy that solves equations; n_dims of its sample is 0: none */
    int64_t overshoot_bytes; /* by which the shape that they give exceeds the limit */
} pti_choice;

/** What a choice costs, for the strategy to compare. */
pti_cost pti_choice_cost(const pti_choice *choice);

/**
 * Choose superblocks, order and buffers by a strategy and build the schedule.
 *
 * block: threads, or NULL to choose; a chosen block is halved until it fits. n_buffers: 0 lets the
 * strategy choose.
 *
 * Errors  NO_FIT with the certificate, NO_MEMORY, UNSUPPORTED (more sub-kernels than can be
 *         listed); of a trial only NO_MEMORY has a text.
 */
polytile_status pti_choose(polytile_context *ctx, const pti_instance *instance,
                           const pti_strategy *strategy, const polytile_plan_options *options,
                           pti_choice *choice);

#endif
