#ifndef OUTSIDE_STREAM_GRAPH_H
#define OUTSIDE_STREAM_GRAPH_H

/*
 * Random graphs as data, written from docs/graphs.md and polytile/stream.h alone: actors are
 * kernels of the other random programs.
 */
#include "outside/run.h"

#include <polytile/stream.h>

namespace outside {

/** An edge between an actor's operand and an array. */
struct Edge {
    int array = NO_ARRAY; /* none */
    bool is_delayed = false;
    int depth = 0; /* 0: not said */
};

struct Actor {
    Kernel kernel;
    std::vector<Number> values; /* of parameters */
    std::vector<Edge> in;       /* one an operand, which may have none */
    std::vector<Edge> out;      /* likewise */
    int repeat = 1;
    std::string unit;    /* "": not said; several in turn have bars between */
    std::string seconds; /* "": not said */
};

struct Graph {
    uint64_t seed = 0;
    std::vector<Shape> arrays;
    std::vector<bool> is_made; /* an actor makes it; else the program feeds it */
    std::vector<bool> is_read; /* an actor reads it; else the program takes it */
    std::vector<Actor> actors; /* in an order in which they may run */
    std::vector<std::string> units;
    std::string links;
    std::string objective; /* "": NULL */
    bool has_no_overlap = false;
    bool looks_for_turns = false;
    bool drops_when_full = false;
    int n_frames = 1;
};

Graph draw_graph(uint64_t seed);

/** Find what the program feeds and takes. */
void find_ports(Graph &graph);

/** The smallest graph that was found to fail in the same way. */
Graph shrink_graph(Graph graph);

/** The graph and the machine as DOT. */
std::string graph_text(const Graph &graph);
std::string machine_text(const Graph &graph);

Outcome run_graph(const Graph &graph);

} // namespace outside

#endif
