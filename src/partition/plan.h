#ifndef POLYTILE_PARTITION_PLAN_H
#define POLYTILE_PARTITION_PLAN_H

#include "base/context.h"
#include "partition/bound.h"
#include "partition/schedule.h"
#include <polytile/plan.h>

struct polytile_plan {
    pti_object object;
    pti_instance *instance; /* owned */
    pti_schedule *schedule; /* owned */
    pti_bound bound;        /* all 0 in place, where nothing moves */
    polytile_plan_summary summary;
    bool has_block;                /* the block was asked for, not chosen */
    int64_t paper_overshoot_bytes; /* strategy "paper": by how much its own answer exceeds the
                                      limit, 0 if it fits */
};

/**
 * Fill in a launch and prove that it is sound, without planning it.
 *
 * Errors  As polytile_plan_create(), without NO_FIT.
 * Owns    The caller frees *instance with pti_instance_free(); on error it is NULL.
 */
polytile_status pti_plan_bind(const polytile_kernel *kernel, const polytile_domain *domain,
                              polytile_array *const *arrays, const polytile_plan_options *options,
                              pti_instance **instance);

/** The three forms of polytile_plan_to_string(); *text is owned by the caller. */
polytile_status pti_plan_to_text(const polytile_plan *plan, char **text);
polytile_status pti_plan_to_json(const polytile_plan *plan, char **text);
polytile_status pti_plan_to_svg(const polytile_plan *plan, char **text);

#endif
