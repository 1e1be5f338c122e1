#ifndef EXAMPLES_APSP_GRAPH_H
#define EXAMPLES_APSP_GRAPH_H

#include "common/session.h"

/* Directed graphs with weights, of a generator or of a file. */

/** An arc between vertices that count from 0. */
typedef struct graph_arc {
    int64_t from;
    int64_t to;
    int32_t weight;
} graph_arc;

/** The largest vertex, weight and distance: kernels have them in 32 bits. */
enum { GRAPH_MOST = INT32_MAX - 1 };

/** Where arcs come from. */
typedef struct graph_source {
    const char *path; /* a DIMACS file; NULL: a generator */
    int scale;        /* of generators, as all below: log2 of the vertices */
    int64_t degree;
    uint64_t seed;
    const struct graph_generator *generator;
} graph_source;

/** The arrays of a graph, see apsp_kernels.h; without memory when only planning. */
typedef struct graph {
    graph_source source;
    int64_t n_vertices;
    int64_t n_arcs;
    polytile_array *first;
    polytile_array *target;
    polytile_array *weight;
    polytile_array *least;
} graph;

/**
 * Make the graph that the command line says.
 *
 * Errors  INVALID (an unknown generator; options that do not go together; a file that is none of
 *         DIMACS, with line and value), IO, OVERFLOW, NO_MEMORY.
 */
polytile_status graph_open(session *s, graph *g);

/** Receives arcs one after the other. */
typedef void graph_arc_function(void *user, const graph_arc *arc);

/* apsp_lists.c */

/** The memory of a graph's arrays, while arcs that come in any order are sorted into it. */
typedef struct graph_lists {
    int64_t n_vertices;
    int64_t *first; /* zero at the beginning */
    int32_t *target;
    int32_t *weight;
    int32_t *least;
} graph_lists;

/** All arcs are counted, then given a place, then filled in, in the same order. */
void graph_lists_count(void *lists, const graph_arc *arc);
void graph_lists_give_places(graph_lists *lists);
void graph_lists_fill_in(void *lists, const graph_arc *arc);
void graph_lists_end(graph_lists *lists);

/* apsp_generate.c */

/** A generator's vertices and arcs, each of which follows from its number. */
typedef struct graph_generator {
    const char *name;
    int64_t (*count_arcs)(const graph_source *source);
    void (*each_arc)(const graph_source *source, graph_arc_function *take, void *user);
} graph_generator;

/** The generator of a name; NULL: there is none. */
const graph_generator *graph_find_generator(const char *name);

/* apsp_dimacs.c */

/** Read a file's problem line, and no more. Errors: INVALID, IO. */
polytile_status dimacs_read_sizes(session *s, const char *path, int64_t *n_vertices,
                                  int64_t *n_arcs);
/** Read all arcs. Errors: INVALID, IO. */
polytile_status dimacs_each_arc(session *s, const char *path, graph_arc_function *take, void *user);
/** The line on which an arc stands; 0: on none. */
int64_t dimacs_find_line(session *s, const char *path, const graph_arc *arc);

/* apsp_paths.c */

/** Distances from a vertex, by Dijkstra's algorithm with a heap. False when memory runs out. */
bool paths_find_plainly(const graph *g, int64_t source, int32_t *distance);

/** Refuse distances that do not tell all paths, since one is longer than 32 bits hold. Errors:
 * INVALID, with the arc, and its line. Shapes: n_sources rows of n_vertices distances. */
polytile_status paths_check_sums(session *s, const graph *g, int64_t n_sources,
                                 const int32_t *distances);

#endif
