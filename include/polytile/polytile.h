#ifndef POLYTILE_POLYTILE_H
#define POLYTILE_POLYTILE_H

/* The whole library but for the opt-in headers isl.h and, in kernel code, kernel.h. */
#include <polytile/array.h>
#include <polytile/check.h>
#include <polytile/context.h>
#include <polytile/declaration.h>
#include <polytile/device.h>
#include <polytile/domain.h>
#include <polytile/footprint.h>
#include <polytile/graph.h>
#include <polytile/implementation.h>
#include <polytile/launch.h>
#include <polytile/layout.h>
#include <polytile/npy.h>
#include <polytile/plan.h>
#include <polytile/policy.h>
#include <polytile/queue.h>
#include <polytile/report.h>
#include <polytile/run.h>
#include <polytile/share.h>
#include <polytile/size.h>
#include <polytile/status.h>
#include <polytile/stream.h>
#include <polytile/text.h>
#include <polytile/trace.h>
#include <polytile/tuning.h>
#include <polytile/witness.h>

/* No function follows NULL in place of an object. One that returns a status returns INVALID, which
 * polytile_last_error() explains to the calling thread for any context; one that ends, pauses or
 * resumes something does nothing. Others return 0, false, "", the index -1, a type of 0 bytes, a
 * domain of 0 dimensions, the default link, and NULL for another object, memory or a name in a
 * list; summaries and reports have zeros and "". NULL in place of memory for an answer is not
 * written to. Only polytile/program.h ends the process. */

#endif
