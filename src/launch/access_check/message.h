#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_MESSAGE_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_MESSAGE_H

#include "access/instance.h"
#include <polytile/check.h>

/** Fail with what a report says in words: who touches what, what was declared, and what to do. */
polytile_status pti_check_accuse(const polytile_kernel *kernel, const pti_instance *instance,
                                 const char *device, const polytile_check_report *report);

#endif
