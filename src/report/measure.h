#ifndef POLYTILE_REPORT_MEASURE_H
#define POLYTILE_REPORT_MEASURE_H

#include "report/trace.h"

/** Sort the operations of a trace by their begin, and find how the time of each device was spent.
 * Errors: NO_MEMORY. */
polytile_status pti_trace_measure(polytile_context *ctx, polytile_trace *trace);

#endif
