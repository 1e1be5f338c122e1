#ifndef POLYTILE_GRAPH_H
#define POLYTILE_GRAPH_H

#include <polytile/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Graphs: kernels joined by arrays that carry one frame after another. docs/graphs.md has the text,
 * and how a graph is planned. Graphs are planned here; nothing runs them yet. */

/** A data-flow graph: actors, which are kernels with launch domains, and arrays between them. */
typedef struct polytile_graph polytile_graph;

/** The most that one firing of an actor may take. */
#define POLYTILE_GRAPH_MAX_SECONDS 1e6

/**
 * Read a graph from a file in the subset of Graphviz's DOT that docs/graphs.md has.
 *
 * Errors  IO, DECLARATION (the text shows line and column with a caret: an unknown attribute or name,
 *         two producers of an array, an operand without its edge, an edge against a role, arrays
 *         that do not agree, actors that wait for each other), CONFLICT (of a kernel on its arrays,
 *         as polytile_check()), NO_MEMORY.
 * Owns    The context owns the graph, which polytile_graph_destroy() can end sooner; on error it is
 *         NULL.
 */
polytile_status polytile_graph_read(polytile_context *ctx, const char *path,
                                    polytile_graph **graph);
/** Read a graph from a text; errors call it "graph". */
polytile_status polytile_graph_parse(polytile_context *ctx, const char *text,
                                     polytile_graph **graph);
void polytile_graph_destroy(polytile_graph *graph);

/** Say how long a firing of an actor takes, as measured; plans then predict no time for it. Errors:
 * INVALID (no such actor; seconds below 0, or above POLYTILE_GRAPH_MAX_SECONDS). */
polytile_status polytile_graph_set_seconds(polytile_graph *graph, const char *actor,
                                           double seconds);

#ifdef __cplusplus
}
#endif

#endif
