#include "outside/draw.h"
#include "outside/stream/graph.h"
#include "outside/watch.h"

#include <functional>

namespace outside {

namespace {

std::string fails(const Graph &graph) {
    std::string failure;
    Batch batch;
    batch.run = [&](uint64_t) { return run_graph(graph); };
    watch(batch, [&](uint64_t, const Outcome &outcome) { failure = outcome.failure; });
    return failure.substr(0, failure.find(':'));
}

/** Leave out an actor; the program feeds what it made. */
bool drop_actor(Graph &graph, size_t k) {
    if (k >= graph.actors.size() || graph.actors.size() == 1)
        return false;
    for (const Edge &edge : graph.actors[k].out)
        if (edge.array != NO_ARRAY)
            graph.is_made[static_cast<size_t>(edge.array)] = false;
    graph.actors.erase(graph.actors.begin() + static_cast<int64_t>(k));
    for (Actor &actor : graph.actors)
        for (Edge &edge : actor.in)
            if (edge.array != NO_ARRAY)
                edge.is_delayed &= graph.is_made[static_cast<size_t>(edge.array)];
    find_ports(graph);
    return true;
}

bool plain_actor(Graph &graph, size_t k) {
    if (k >= 3 * graph.actors.size())
        return false;
    Actor &actor = graph.actors[k / 3];
    if (k % 3 == 0)
        actor.repeat = 1;
    else if (k % 3 == 1)
        actor.seconds.clear();
    else
        actor.unit.clear();
    for (Edge &edge : actor.in)
        edge.depth = 0;
    return true;
}

bool plain_graph(Graph &graph, size_t k) {
    if (k == 0)
        graph.objective.clear();
    else if (k == 1)
        graph.has_no_overlap = graph.looks_for_turns = false;
    else if (k == 2)
        graph.drops_when_full = false;
    else if (k == 3)
        graph.links.clear();
    else if (k < 10)
        graph.n_frames = static_cast<int>(k) - 3;
    return k < 10;
}

} // namespace

Graph shrink_graph(Graph graph) {
    const std::string kind = fails(graph);
    const std::function<bool(Graph &, size_t)> cuts[] = {drop_actor, plain_actor, plain_graph};
    for (bool is_smaller = !kind.empty(); is_smaller;) {
        is_smaller = false;
        for (const auto &cut : cuts)
            for (size_t k = 0;; k++) {
                Graph smaller = graph;
                if (!cut(smaller, k))
                    break;
                if (graph_text(smaller) == graph_text(graph) && &cut == &cuts[1])
                    continue;
                if (fails(smaller) != kind)
                    continue;
                is_smaller |= smaller.actors.size() < graph.actors.size();
                graph = smaller;
            }
    }
    return graph;
}

} // namespace outside
