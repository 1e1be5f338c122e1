#ifndef POLYTILE_REPORT_EVENT_H
#define POLYTILE_REPORT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One event of a trace, parsed. */

/** A number of JSON. */
typedef struct pti_event_number {
    bool is_there;
    bool is_whole; /* and has 64 bits: whole is it */
    int64_t whole;
    double real;
} pti_event_number;

/** What a report wants to know of an event; the texts lie in the one that was parsed, NULL:
 * none. */
typedef struct pti_trace_event {
    const char *name, *category, *phase;
    pti_event_number ts, dur, pid, tid;
    /* Of its args: */
    const char *given_name;
    pti_event_number bytes, sort_index, limit_bytes, upload_bytes_per_s, download_bytes_per_s, run,
        launches, superblocks, peak_bytes, planned_bytes, bound_bytes;
} pti_trace_event;

/** Parse an object of JSON, in whose text strings are unescaped in place. Returns NULL, or what is
 * wrong; *place: at which byte. Takes no memory. */
const char *pti_trace_event_parse(char *text, size_t n_bytes, pti_trace_event *event,
                                  size_t *place);

#endif
