#include "fuzz/fuzz.h"

extern "C" {
#include "graph/dot/dot.h"
}

/* Graphs from text: one that DOT's reader accepts is written, read back, and the same; and the
 * readers of graphs and machines say what is wrong of it. A graph is planned. */

namespace {

void write_attributes(pti_text *text, const pti_dot_attributes &list) {
    pti_text_add(text, " [");
    for (int64_t k = 0; k < list.n; k++) {
        pti_dot_write_quoted(text, list.attribute[k].name);
        pti_text_add(text, "=");
        pti_dot_write_quoted(text, list.attribute[k].value);
        pti_text_add(text, ";");
    }
    pti_text_add(text, "];\n");
}

/** Nodes first, so that they are in their order. */
std::string written(const pti_dot &dot) {
    pti_text text = {};
    pti_text_add(&text, "digraph {\n");
    for (int64_t n = 0; n < dot.n_nodes; n++) {
        pti_dot_write_quoted(&text, dot.node[n].name);
        write_attributes(&text, dot.node[n].attributes);
    }
    for (int64_t e = 0; e < dot.n_edges; e++) {
        pti_dot_write_quoted(&text, dot.node[dot.edge[e].from].name);
        pti_text_add(&text, " -> ");
        pti_dot_write_quoted(&text, dot.node[dot.edge[e].to].name);
        write_attributes(&text, dot.edge[e].attributes);
    }
    pti_text_add(&text, "}\n");
    require(!text.failed, "memory for a text");
    const std::string copy = text.data;
    pti_text_free(&text);
    return copy;
}

void compare(const pti_dot &first) {
    polytile_context *ctx = shared_context();
    const std::string text = written(first);
    pti_dot *second = nullptr;
    require(pti_dot_parse(ctx, "written", text.c_str(), &second) == POLYTILE_OK,
            text + " is not read back: " + polytile_last_error(ctx));
    require(written(*second) == text, text + " is read back as " + written(*second));
    pti_dot_free(second);
}

/** Plan for two GPUs, one of which is little, in each way. */
void plan_graph(const polytile_graph *graph) {
    polytile_context *ctx = shared_context();
    polytile_machine *machine = nullptr;
    require(polytile_machine_parse(ctx,
                                   "digraph { gpu0 [device=\"cuda:0(memory=2KiB)\"]; "
                                   "gpu1 [device=\"cuda:1\"] }",
                                   &machine) == POLYTILE_OK,
            "a machine is read");
    for (int way = 0; way < 4; way++) {
        polytile_graph_options options = {};
        polytile_graph_plan *plan = nullptr;
        options.no_overlap = way % 2 != 0;
        options.strategy = way < 2 ? "best" : "paper";
        const polytile_status status = polytile_graph_plan_create(graph, machine, &options, &plan);
        require((status == POLYTILE_OK) == (plan != nullptr), "a plan comes with success");
        require_told(ctx, status);
        polytile_graph_plan_destroy(plan);
    }
    polytile_machine_destroy(machine);
}

void read_graph(const std::string &text) {
    polytile_context *ctx = shared_context();
    polytile_graph *graph = nullptr;
    const polytile_status status = polytile_graph_parse(ctx, text.c_str(), &graph);
    require((status == POLYTILE_OK) == (graph != nullptr), "a graph comes with success");
    require_told(ctx, status);
    if (graph != nullptr)
        plan_graph(graph);
    polytile_graph_destroy(graph);
}

void read_machine(const std::string &text) {
    polytile_context *ctx = shared_context();
    polytile_machine *machine = nullptr;
    const polytile_status status = polytile_machine_parse(ctx, text.c_str(), &machine);
    require((status == POLYTILE_OK) == (machine != nullptr), "a machine comes with success");
    require_told(ctx, status);
    polytile_machine_destroy(machine);
}

} // namespace

void fuzz_one(const uint8_t *bytes, size_t n_bytes) {
    polytile_context *ctx = shared_context();
    const std::string text(reinterpret_cast<const char *>(bytes), n_bytes);
    pti_dot *dot = nullptr;
    pti_clear_error(ctx);
    const polytile_status status = pti_dot_parse(ctx, "text", text.c_str(), &dot);
    require((status == POLYTILE_OK) == (dot != nullptr), "nodes and edges come with success");
    require(status == POLYTILE_OK || status == POLYTILE_DECLARATION,
            std::string("another error than DECLARATION: ") + polytile_last_error(ctx));
    require_told(ctx, status);
    if (dot != nullptr) {
        compare(*dot);
        read_graph(text);
        read_machine(text);
    }
    pti_dot_free(dot);
}
