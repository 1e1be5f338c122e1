#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_MESSAGE_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_MESSAGE_H

#include "access/footprint/instance.h"
#include "base/text.h"
#include "launch/access_check/finding.h"
#include <polytile/check.h>

/* What the check says to people. */

/** Write "thread [3, 4]", or "the threads [0:7, 0:31]". */
void pti_check_write_threads(pti_text *text, const polytile_domain *threads);

/** Record a report as an error: who touches what, what was declared, and what to do. Errors:
 * INVALID (a violation), UNSUPPORTED (results that vary). */
polytile_status pti_check_fail(const polytile_kernel *kernel, const pti_instance *instance,
                               const char *device, const polytile_check_report *report,
                               const pti_finding *finding);

#endif
