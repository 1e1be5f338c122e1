#include "outside/stream/graph.h"
#include "outside/text.h"

namespace outside {

namespace {

bool is_port(const Graph &graph, size_t array) {
    return graph.is_made[array] || graph.is_read[array];
}

std::string array_name(int array) {
    return "x" + std::to_string(array);
}

std::string edge_text(const Edge &edge, const std::string &actor, int operand, bool is_in) {
    const std::string array = array_name(edge.array);
    std::string text = is_in ? array + " -> " + actor : actor + " -> " + array;
    text += " [as=" + operand_name(operand);
    text += edge.is_delayed ? ", delay=1" : "";
    text += edge.depth ? ", depth=" + std::to_string(edge.depth) : "";
    return text + "];";
}

std::string actor_text(const Actor &actor, const std::string &name) {
    std::string params;
    for (size_t k = 0; k < actor.values.size(); k++)
        params += (k ? "," : "") + actor.kernel.parameters[k].name + "=" +
                  std::to_string(static_cast<int64_t>(actor.values[k].bits));
    std::string text = "  " + name + " [kernel=\"" + declaration_text(actor.kernel) +
                       "\", domain=\"" + box_text(actor.kernel.domain) + "\"";
    text += params.empty() ? "" : ", params=\"" + params + "\"";
    text += actor.unit.empty() ? "" : ", on=\"" + actor.unit + "\"";
    text += actor.seconds.empty() ? "" : ", seconds=\"" + actor.seconds + "\"";
    text += actor.repeat > 1 ? ", repeat=" + std::to_string(actor.repeat) : "";
    return text + "];\n";
}

} // namespace

std::string graph_text(const Graph &graph) {
    std::string text = "digraph g {\n";
    for (size_t k = 0; k < graph.arrays.size(); k++)
        if (is_port(graph, k))
            text += "  " + array_name(static_cast<int>(k)) +
                    " [type=" + type_name(graph.arrays[k].type) + ", extents=\"" +
                    box_text(graph.arrays[k].box) + "\"];\n";
    for (size_t number = 0; number < graph.actors.size(); number++) {
        const Actor &actor = graph.actors[number];
        const std::string name = "a" + std::to_string(number);
        text += actor_text(actor, name) + " ";
        for (size_t k = 0; k < actor.in.size(); k++) {
            if (actor.in[k].array != NO_ARRAY)
                text += " " + edge_text(actor.in[k], name, static_cast<int>(k), true);
            if (actor.out[k].array != NO_ARRAY)
                text += " " + edge_text(actor.out[k], name, static_cast<int>(k), false);
        }
        text += "\n";
    }
    return text + "}\n";
}

std::string machine_text(const Graph &graph) {
    std::string text = "digraph m {";
    for (size_t k = 0; k < graph.units.size(); k++)
        text += " u" + std::to_string(k) + " [device=\"" + graph.units[k] + "\"];";
    return text + graph.links + " }\n";
}

} // namespace outside
