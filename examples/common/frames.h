#ifndef EXAMPLES_FRAMES_H
#define EXAMPLES_FRAMES_H

#include "session.h"

#include <polytile/stream.h>

#include <stdio.h>

/* What examples share that stream frames through a graph. */

/** A graph, and what runs it; all are the context's. */
typedef struct frames {
    polytile_graph *graph;
    polytile_machine *machine; /* a unit for each device of the command line */
    polytile_graph_plan *plan;
    polytile_stream *stream;
} frames;

/** Read a graph's text and write it, and that of the machine, where the command line says. Errors:
 * those of polytile_graph_parse() and polytile_machine_parse(), IO, NO_MEMORY. */
polytile_status frames_parse(session *s, const char *text, frames *of);

/** Plan a graph that is bound; may_take_turns: frames may go in turn over several devices, unless
 * the command line says how to plan. Errors: those of polytile_graph_plan_create(). */
polytile_status frames_plan(session *s, frames *of, bool may_take_turns, result *r);

/** Report what a run took: seconds and bytes are those of one frame, on average. */
void frames_report(const frames *of, int64_t n_frames, double total_s, result *r);

/** Write what the run measured where the command line says. Errors: IO, NO_MEMORY. */
polytile_status frames_write_profile(session *s, const frames *of);

/** Close a text in memory; false: there was none for it. */
bool frames_close_text(FILE *to);

#endif
