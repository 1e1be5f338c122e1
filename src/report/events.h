#ifndef POLYTILE_REPORT_EVENTS_H
#define POLYTILE_REPORT_EVENTS_H

#include "base/context.h"
#include "report/event.h"

#include <stdio.h>

/** The events of a trace file, of which one at a time is in memory. */
typedef struct pti_trace_events {
    polytile_context *ctx;
    const char *path; /* borrowed */
    FILE *file;
    char *text; /* of the event that is read; owned */
    int64_t length, capacity;
    int64_t n_events; /* so far */
    bool is_object;   /* the list of events is a member of an object */
} pti_trace_events;

/**
 * Open a file and find its list of events.
 *
 * Errors  IO, INVALID (it is empty, no JSON or no trace), NO_MEMORY; then it is closed.
 */
polytile_status pti_trace_events_open(polytile_context *ctx, const char *path,
                                      pti_trace_events *events);

/**
 * Read the next event, whose texts last until the one behind it. *is_there: false behind the last.
 *
 * Errors  IO, INVALID (cut off, no JSON, no object), NO_MEMORY.
 */
polytile_status pti_trace_events_next(pti_trace_events *events, pti_trace_event *event,
                                      bool *is_there);

void pti_trace_events_close(pti_trace_events *events);

#endif
