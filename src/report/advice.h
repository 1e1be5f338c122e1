#ifndef POLYTILE_REPORT_ADVICE_H
#define POLYTILE_REPORT_ADVICE_H

#include "report/trace.h"

/* When which advice is given. docs/report.md has the same figures, and why they are these. */

/** A kernel shorter than this is short: starting one takes 2.6 us, and 7.4 with a wait for it
 * (docs/scaling.md). */
#define PTI_SHORT_KERNEL_S 50e-6
/** Fewer operations of a kind than this say nothing. */
enum { PTI_FEW_OPERATIONS = 10 };
/** A kind that has less of its device's time than this does not matter. */
#define PTI_SMALL_SHARE 0.05
/** Copies with fewer bytes than this reach less than the link's rate. */
enum { PTI_SMALL_COPY_BYTES = 256 * 1024 };
/** Copies with more than this would reach it. */
enum { PTI_LARGE_COPY_BYTES = 1024 * 1024 };
/** A link is slow below this part of the rate that was measured before. */
#define PTI_SLOW_LINK 0.5
/** Kernels and copies both matter from this part of the time on, and hardly overlap if less than
 * the second part of the shorter of them overlaps. */
#define PTI_MATTERS         0.15
#define PTI_HARDLY_OVERLAPS 0.25
/** One direction of the link is the limit from this part of the time on, if kernels have less than
 * the second. */
#define PTI_BUSY_LINK    0.75
#define PTI_IDLE_KERNELS 0.5
/** From this ratio of bytes to the lower bound on, a higher limit would save some. */
#define PTI_ABOVE_BOUND 1.25
/** Planning, and idleness, matter from this part of the time on while nothing else runs. */
#define PTI_LONG_PLANNING 0.15
#define PTI_LONG_IDLE     0.25
/** The busiest device has this many times the mean of all, and more. */
#define PTI_UNEVEN 1.25
/** Kernels are all that counts from this part of the time on. */
#define PTI_BUSY_KERNELS 0.9

/** Find what to change, in the order of the rules. Errors: NO_MEMORY. */
polytile_status pti_trace_advise(polytile_context *ctx, polytile_trace *trace);

#endif
