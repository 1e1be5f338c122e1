#ifndef POLYTILE_REPORT_COLLECT_H
#define POLYTILE_REPORT_COLLECT_H

#include "report/event.h"
#include "report/trace.h"

/* The events of a trace, collected into what a report needs. */

/** How many of each a trace may have: more is none that this library wrote. */
enum { PTI_MOST_TRACED_PROCESSES = 1024, PTI_MOST_TRACED_TRACKS = 4096 };
#define PTI_MOST_TRACED_SLICES INT64_C(200000000)

/** What is needed only while events come. */
typedef struct pti_trace_collector {
    polytile_context *ctx;
    const char *path; /* borrowed */
    int64_t n_events; /* so far, this one included */
    polytile_trace *to;
    int64_t *bucket;   /* a hash table of kinds, -1: free; owned */
    int64_t n_buckets; /* of it, a power of two; 0: none yet */
} pti_trace_collector;

/**
 * Keep what an event says.
 *
 * Errors  INVALID (the text names the event and what is wrong), NO_MEMORY.
 */
polytile_status pti_trace_collect(pti_trace_collector *collector, const pti_trace_event *event);

void pti_trace_collector_free(pti_trace_collector *collector);

/* kinds.c */

/** Find the kind of an operation, or add it: operations of one name and work on one process.
 * Errors: NO_MEMORY. */
polytile_status pti_trace_find_kind(pti_trace_collector *collector, int process,
                                    const pti_trace_event *event, int *kind);

/* measure.c */

/** Sort the operations of a trace by their begin, and find how the time of each device was spent.
 * Errors: NO_MEMORY. */
polytile_status pti_trace_measure(polytile_context *ctx, polytile_trace *trace);

#endif
