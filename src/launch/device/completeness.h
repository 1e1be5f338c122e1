#ifndef POLYTILE_LAUNCH_DEVICE_COMPLETENESS_H
#define POLYTILE_LAUNCH_DEVICE_COMPLETENESS_H

#include "base/context.h"
#include "partition/schedule/schedule.h"

/* Which arrays a run has begun to write: a failure leaves them half written. */
typedef struct pti_completeness {
    polytile_context *ctx;
    const pti_schedule *schedule;
    polytile_array *const *arrays; /* one an operand of the schedule's instance */
    bool *has_begun;               /* of each array; owned */
} pti_completeness;

/** Create it for a run; pti_completeness_end() frees it. Errors: NO_MEMORY. */
polytile_status pti_completeness_create(polytile_context *ctx, const pti_schedule *schedule,
                                        polytile_array *const *arrays, pti_completeness *made);

/** Record that an operand's host memory is about to change, or that the device has newer elements:
 * its array is incomplete if the run fails from here on. */
void pti_completeness_begin(pti_completeness *completeness, int operand);

/** Return whether a run replaces every element of an operand's array by that name, using no old
 * one. Without memory to find that out it is taken for one that does not. */
bool pti_completeness_is_overwritten(const pti_instance *instance, int operand);

/** Find the same; false when memory runs out. */
bool pti_completeness_find_overwritten(const pti_instance *instance, int operand,
                                       bool *is_overwritten);

/**
 * After success, mark arrays complete that were so before, or that a launch overwrote; after a
 * failure, mark those incomplete that had begun to change, and name them in the error's text.
 * Returns status; a zero-initialised one only does that.
 */
polytile_status pti_completeness_end(pti_completeness *completeness, polytile_status status);

#endif
