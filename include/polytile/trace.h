#ifndef POLYTILE_TRACE_H
#define POLYTILE_TRACE_H

#include <polytile/context.h>
#include <polytile/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a trace file says of a run: how busy devices were, what moved, what to change;
 * immutable. */
typedef struct polytile_trace polytile_trace;

/**
 * Read a trace that polytile_queue_trace() or polytile_device_trace() wrote. Other traces of the
 * same format are read, too; what they say of no device's work is left out.
 *
 * Errors  IO (the file cannot be read), INVALID (no JSON, cut off, no trace, an event without time,
 *         duration, process or thread, a time out of range, a negative duration, no operations,
 *         more of them than can be kept; the text says which event), NO_MEMORY.
 * Owns    The context owns the trace, which polytile_trace_destroy() can end sooner; on error it is
 *         NULL.
 */
polytile_status polytile_trace_read(polytile_context *ctx, const char *path,
                                    polytile_trace **trace);

/** End a trace; NULL does nothing. */
void polytile_trace_destroy(polytile_trace *trace);

/**
 * Write what it says as text for people, JSON for programs, or an HTML page of its own, with a time
 * line, that needs no server. docs/report.md explains each figure, and when which advice is given.
 *
 * Errors  INVALID (POLYTILE_SVG, or no format), NO_MEMORY.
 * Owns    The caller frees *text with free(); on error it is NULL.
 */
polytile_status polytile_trace_to_string(const polytile_trace *trace, polytile_format format,
                                         char **text);

#ifdef __cplusplus
}
#endif

#endif
