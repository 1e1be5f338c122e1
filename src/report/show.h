#ifndef POLYTILE_REPORT_SHOW_H
#define POLYTILE_REPORT_SHOW_H

#include "partition/show/print.h"
#include "report/trace.h"

#include <stddef.h>

/* The printers of traces. */
pti_printer pti_trace_write_text, pti_trace_write_json, pti_trace_write_page;

/** Write the tracks with their operations as JSON: each operation where there are few, else shares
 * of small spans of time, so that a page stays small. */
void pti_trace_write_tracks(pti_text *text, const polytile_trace *trace);

/** The kinds of most time, in its order; *n: how many. The caller frees the list; NULL: no
 * memory. */
const pti_traced_kind **pti_trace_longest_kinds(const polytile_trace *trace, int64_t *n);

/** The page with a place for its data, of the file page.html. */
extern const unsigned char pti_report_page_text[];
extern const size_t pti_report_page_bytes;

#endif
