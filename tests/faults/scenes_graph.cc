#include "faults/scene.h"

#include <cstdlib>
#include <fstream>

/* Scenes of graphs. */

namespace {

const char *const opening =
    "digraph opening {\n"
    "  { node [type=u8, extents=\"8x8x8\"]; frame; small; opened }\n"
    "  { node [kernel=\"cube[i,j,k](f32 a): in A[i-1:i+1,j-1:j+1,k-1:k+1]; out B[i,j,k]\", "
    "params=\"a=2.5\"]; erode; dilate }\n"
    "  frame -> erode [as=A]; erode -> small [as=B]; small -> dilate [as=A]; dilate -> opened "
    "[as=B]\n"
    "}\n";

void write_graph(Stage &stage) {
    std::ofstream(stage.path("opening.dot")) << opening;
}

polytile_status read_graphs(Stage &stage) {
    const char *path = stage.path("opening.dot");
    polytile_graph *graph = nullptr, *of_file = nullptr;
    SCENE_TRY(polytile_graph_parse(stage.ctx, opening, &graph));
    SCENE_TRY(polytile_graph_set_seconds(graph, "erode", 0.5));
    SCENE_TRY(polytile_graph_read(stage.ctx, path, &of_file));
    polytile_graph_destroy(graph);
    polytile_graph_destroy(of_file);
    return POLYTILE_OK;
}

const char *const two = "digraph { a [device=\"cuda:0\"]; b [device=\"cuda:1(memory=1MiB)\"]; "
                        "a -> b [bandwidth=\"50GB/s\", latency=\"5us\"] }";

void write_machine(Stage &stage) {
    std::ofstream(stage.path("machine.dot")) << two;
}

polytile_status read_machines(Stage &stage) {
    const char *path = stage.path("machine.dot");
    polytile_machine *machine = nullptr, *of_file = nullptr;
    SCENE_TRY(polytile_machine_parse(stage.ctx, two, &machine));
    SCENE_TRY(polytile_machine_read(stage.ctx, path, &of_file));
    polytile_machine_destroy(machine);
    polytile_machine_destroy(of_file);
    return POLYTILE_OK;
}

polytile_status print_plan(Stage &stage, const polytile_graph_plan *plan) {
    for (polytile_format format : {POLYTILE_TEXT, POLYTILE_SVG}) {
        char *text = nullptr;
        SCENE_TRY(polytile_graph_plan_to_string(plan, format, &text));
        const bool is_right = stage.prints(text);
        std::free(text);
        if (!is_right)
            return POLYTILE_INTERNAL;
    }
    char *json = nullptr, *dot = nullptr;
    SCENE_TRY(polytile_graph_plan_to_string(plan, POLYTILE_JSON, &json));
    std::free(json);
    SCENE_TRY(polytile_graph_plan_to_dot(plan, &dot));
    const bool is_right = stage.prints(dot);
    std::free(dot);
    return is_right ? POLYTILE_OK : POLYTILE_INTERNAL;
}

polytile_status plan_graph(Stage &stage, const polytile_graph_options &options) {
    polytile_graph *graph = nullptr;
    polytile_machine *machine = nullptr;
    polytile_graph_plan *plan = nullptr;
    SCENE_TRY(polytile_graph_parse(stage.ctx, opening, &graph));
    SCENE_TRY(polytile_machine_parse(stage.ctx, two, &machine));
    SCENE_TRY(polytile_graph_set_seconds(graph, "erode", 0.5));
    SCENE_TRY(polytile_graph_plan_create(graph, machine, &options, &plan));
    SCENE_TRY(print_plan(stage, plan));
    polytile_graph_summary summary = {};
    polytile_graph_plan_get_summary(plan, &summary);
    const bool has_notes = *polytile_graph_plan_get_notes(plan) != '\0';
    polytile_graph_plan_destroy(plan);
    polytile_graph_destroy(graph);
    polytile_machine_destroy(machine);
    return summary.period_s >= 0.5 && has_notes ? POLYTILE_OK : POLYTILE_INTERNAL;
}

polytile_status plan_graphs(Stage &stage) {
    polytile_graph_options options = {};
    SCENE_TRY(plan_graph(stage, options));
    options.no_overlap = true;
    return plan_graph(stage, options);
}

polytile_status plan_by_the_paper(Stage &stage) {
    polytile_graph_options options = {};
    options.strategy = "paper";
    return plan_graph(stage, options);
}

polytile_status read_a_wrong_graph(Stage &stage) {
    polytile_graph *graph = nullptr;
    return polytile_graph_parse(stage.ctx, "digraph { a [kernel=\"a[i]: in p[i]; out q[i]\"] }",
                                &graph);
}

} // namespace

std::vector<Scene> scenes_of_graphs() {
    auto none = [](Stage &) {};
    return {
        {"ReadGraphs", write_graph, read_graphs, POLYTILE_OK, {}},
        {"ReadMachines", write_machine, read_machines, POLYTILE_OK, {}},
        {"PlanGraphs", none, plan_graphs, POLYTILE_OK, {}},
        {"PlanGraphsByThePaper", none, plan_by_the_paper, POLYTILE_OK, {}},
        {"ReadAWrongGraph", none, read_a_wrong_graph, POLYTILE_DECLARATION, {}},
    };
}
