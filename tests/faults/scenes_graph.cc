#include "faults/scene.h"

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

polytile_status read_graphs(Stage &stage) {
    const char *path = stage.path("opening.dot");
    std::ofstream(path) << opening;
    polytile_graph *graph = nullptr, *of_file = nullptr;
    SCENE_TRY(polytile_graph_parse(stage.ctx, opening, &graph));
    SCENE_TRY(polytile_graph_set_seconds(graph, "erode", 0.5));
    SCENE_TRY(polytile_graph_read(stage.ctx, path, &of_file));
    polytile_graph_destroy(graph);
    polytile_graph_destroy(of_file);
    return POLYTILE_OK;
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
        {"ReadGraphs", none, read_graphs, POLYTILE_OK, {}},
        {"ReadAWrongGraph", none, read_a_wrong_graph, POLYTILE_DECLARATION, {}},
    };
}
