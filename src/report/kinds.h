#ifndef POLYTILE_REPORT_KINDS_H
#define POLYTILE_REPORT_KINDS_H

#include "report/collect.h"

/** Find the kind of an operation, or add it: operations of one name and work on one process.
 * Errors: NO_MEMORY. */
polytile_status pti_trace_find_kind(pti_trace_collector *collector, int process,
                                    const pti_trace_event *event, int *kind);

#endif
