#ifndef POLYTILE_PARTITION_WINDOW_PLAN_H
#define POLYTILE_PARTITION_WINDOW_PLAN_H

#include "access/pieces/ways.h"
#include "base/context.h"
#include "partition/bound/bound.h"
#include "partition/cut/family.h"
#include "partition/schedule/schedule.h"
#include <polytile/plan.h>

/* partition/window: windows of several launches to schedules. engine.h walks over a window and
 * hands on what has one schedule, fusion_group.h finds the chains in it, plan_chain.h plans long
 * lists, and here are plans as programs see them. */

/** A plan of one launch, or of a chain. */
struct polytile_plan {
    pti_object object;
    const pti_instance *instance; /* of the way that was taken; or a chain's arrays: launches.h */
    pti_instance *owned_instance; /* as declared */
    pti_ways ways;                /* to hold its arrays; none for a chain; owned */
    const pti_schedule *schedule; /* owned_schedule, or that of the chain's subplan that is shown */
    pti_schedule *owned_schedule;
    struct pti_plan_chain *chain; /* owned; NULL: one launch */
    pti_bound bound;              /* all 0 in place, where nothing moves */
    polytile_plan_summary summary;
    polytile_chain_summary chain_summary;
    bool has_block;        /* the block was asked for, not chosen */
    pti_solution solution; /* strategy "paper": its equations; of others: no sample */
    int64_t
        paper_overshoot_bytes; /* by how much their own answer exceeds the limit, 0 if it fits */
};

/** Return whether a plan of one launch holds arrays in pieces. */
static inline bool pti_plan_is_in_pieces(const polytile_plan *plan) {
    return plan->chain == NULL && plan->instance != plan->owned_instance;
}

/** The block that was asked for; NULL: none was. */
static inline const int64_t *pti_plan_block(const polytile_plan *plan) {
    return plan->has_block ? plan->summary.block : NULL;
}

/**
 * Fill in a launch and prove that it is sound, without planning it.
 *
 * Errors  As polytile_plan_create(), without NO_FIT.
 * Owns    The caller frees *instance with pti_instance_free(); on error it is NULL.
 */
polytile_status pti_plan_bind(const polytile_kernel *kernel, const polytile_domain *domain,
                              int n_arrays, polytile_array *const *arrays,
                              const polytile_launch_options *options, pti_instance **instance);

/** Bind a launch with one array for each operand of the declaration, in its order; NULL for
 * scratch. The kernel has at most PTI_MAX_OPERANDS operands. options: not NULL. */
polytile_status pti_plan_bind_operands(const polytile_kernel *kernel, const polytile_domain *domain,
                                       polytile_array *const *operands,
                                       const polytile_launch_options *options,
                                       pti_instance **instance);

#endif
