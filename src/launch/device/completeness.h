#ifndef POLYTILE_LAUNCH_DEVICE_COMPLETENESS_H
#define POLYTILE_LAUNCH_DEVICE_COMPLETENESS_H

#include "base/context.h"
#include "partition/schedule/schedule.h"

/* Which arrays a run has begun to write, so that a failure can say what it left half done. */
typedef struct pti_completeness {
    polytile_context *ctx;
    const pti_schedule *schedule;
    polytile_array *const *arrays; /* one an operand of the schedule's instance */
    bool *has_begun;               /* likewise; owned */
} pti_completeness;

/** Errors: NO_MEMORY. Owned by the caller until pti_completeness_end(). */
polytile_status pti_completeness_create(polytile_context *ctx, const pti_schedule *schedule,
                                        polytile_array *const *arrays, pti_completeness *made);

/** An operand's host memory is about to change, or the device holds elements of it that the host
 * does not: its array is incomplete if the run fails from here on. */
void pti_completeness_begin(pti_completeness *of, int operand);

/** Whether a run replaces every element of an operand, using no old one. */
bool pti_completeness_is_overwritten(const pti_instance *instance, int operand);

/**
 * After success, an array is complete if it was so before, or if a launch overwrote it whole; after
 * a failure, those that had begun to change are marked incomplete, and the error's text names them.
 * Returns status; zero-initialised it only does that.
 */
polytile_status pti_completeness_end(pti_completeness *of, polytile_status status);

#endif
