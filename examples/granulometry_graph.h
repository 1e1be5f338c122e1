#ifndef EXAMPLES_GRANULOMETRY_GRAPH_H
#define EXAMPLES_GRANULOMETRY_GRAPH_H

#include "granulometry_volume.h"

/** Write the graph: for each size n an actor of n erosions, one of n dilations and one that counts;
 * the counts are outputs, from size 0. Errors: NO_MEMORY. Owns: the caller frees *text. */
polytile_status granulometry_write_graph(session *s, const volume *v, int64_t n_sizes, char **text);

#endif
