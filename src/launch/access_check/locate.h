#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_LOCATE_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_LOCATE_H

#include "launch/access_check/finding.h"

/**
 * Find the poisoned element on which a result depends: the trial is aimed at the threads, and the
 * finding is a read. Poison is changed up to a place, and the place at which the result changes is
 * found by bisection.
 *
 * Errors  Those of the device.
 */
polytile_status pti_locate_read(pti_trial *trial, const pti_finding *finding, int *operand,
                                int64_t *place);

#endif
