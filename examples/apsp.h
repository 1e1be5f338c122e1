#ifndef EXAMPLES_APSP_H
#define EXAMPLES_APSP_H

#include "apsp_graph.h"

/** What is to be found: the distances from the first vertices of a graph to all. */
typedef struct apsp_problem {
    graph graph;
    int64_t n_sources;
    polytile_array *distances; /* a row a source */
} apsp_problem;

/* apsp_crauser.c */

/** Find them one source after the other, in rounds that a loop on the host launches; or plan a
 * round of one source. */
polytile_status apsp_crauser(session *s, const apsp_problem *of, result *r);

#endif
