#ifndef EXAMPLES_SALIENCY_GRAPH_H
#define EXAMPLES_SALIENCY_GRAPH_H

#include "common/frames.h"

/** Write the graph: eight actors in a row, of which those in the middle have a map for each
 * orientation and frequency. extent: rows and columns of a frame. Errors: NO_MEMORY. Owns: the
 * caller frees *text. */
polytile_status saliency_write_graph(session *s, const int64_t *extent, char **text);

#endif
