#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_FINDING_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_FINDING_H

#include "launch/access_check/trial.h"
#include <polytile/check.h>

/* What a trial finds when its box of threads runs. */

/** An element that shows a violation. */
typedef struct pti_finding {
    polytile_violation violation;
    bool varies; /* a second run on the same memory gives another result, which is no violation. The
                    rest is set if this is, or if there is a violation */
    int operand;
    int64_t place;   /* in the copy: written beside the declaration, left, or another result */
    int pattern;     /* of a read: which gives another result than the first */
    bool is_partial; /* left: only some bytes of it are */
} pti_finding;

/** Return whether there is a violation. */
bool pti_finding_is_any(const pti_finding *finding);

/**
 * Run a trial's box of threads with every pattern of poison, and compare.
 *
 * Errors  Those of the device, NO_MEMORY; a violation is none.
 */
polytile_status pti_finding_look(pti_trial *trial, pti_finding *finding);

/** Return whether two results of an operand count as the same: close ones do for a reduction whose
 * runs differ by themselves. */
bool pti_finding_is_same(const pti_trial *trial, const pti_shadow_copy *shadow,
                         const unsigned char *one, const unsigned char *other);

#endif
