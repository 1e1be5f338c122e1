#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_STREAM_PORTS_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_STREAM_PORTS_H

#include <string>
#include <vector>

extern "C" {
#include "graph/read/graph.h"
#include "graph/stream/stream.h"
}

/** The rank's own ports of a stream, by the names of their arrays. */
inline std::vector<std::string> ports_here(const polytile_stream *stream,
                                           const polytile_graph *graph, const int *ports,
                                           int n_ports) {
    std::vector<std::string> names;
    for (int k = 0; k < n_ports; k++)
        names.push_back(
            graph->array[stream->expansion.buffer[ports[k]].array % graph->n_arrays].name);
    return names;
}

#endif
