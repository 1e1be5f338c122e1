#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_FINDING_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_FINDING_H

#include "launch/access_check/trial.h"
#include <polytile/check.h>

/** An element that gives a kernel away. */
typedef struct pti_finding {
    polytile_violation violation; /* POLYTILE_NO_VIOLATION: the rest means nothing */
    int operand;
    int64_t place; /* in the copy: written beside the declaration, left, or another result */
    int pattern;   /* of a read: which gives another result than pattern 0 */
} pti_finding;

/**
 * Run the box of threads that a trial is aimed at with every pattern of poison, and compare.
 *
 * Errors  Those of the device, NO_MEMORY; a violation is none.
 */
polytile_status pti_finding_look(pti_trial *trial, pti_finding *finding);

#endif
