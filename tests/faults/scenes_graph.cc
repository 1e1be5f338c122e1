#include "faults/scene.h"
#include "launch/kernels.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

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
    return summary.period_s >= (options.in_turn || options.in_parts ? 0.25 : 0.5) && has_notes
               ? POLYTILE_OK
               : POLYTILE_INTERNAL;
}

polytile_status plan_graphs(Stage &stage) {
    polytile_graph_options options = {};
    SCENE_TRY(plan_graph(stage, options));
    options.no_overlap = true;
    return plan_graph(stage, options);
}

polytile_status plan_in_turn(Stage &stage) {
    polytile_graph_options options = {};
    options.in_turn = true;
    return plan_graph(stage, options);
}

polytile_status plan_in_parts(Stage &stage) {
    polytile_graph_options options = {};
    options.in_parts = true;
    return plan_graph(stage, options);
}

polytile_status plan_by_the_paper(Stage &stage) {
    polytile_graph_options options = {};
    options.strategy = "paper";
    return plan_graph(stage, options);
}

const std::string smoothing =
    "digraph { { node [type=f64, extents=40]; x; m; y } { node [type=f32, extents=40]; s; z }\n"
    "first [kernel=\"smooth[i]: in A[i-1:i+1]; out B[i]\", domain=\"1:38\", seconds=0.001, on=a];\n"
    "second [kernel=\"smooth[i]: in A[i-1:i+1]; out B[i]\", domain=\"1:38\", repeat=2, "
    "seconds=0.001, on=b];\n"
    "last [kernel=\"axpy[i](f32 a, i64 b): in x[i]; inout y[i]\", params=\"a=2,b=3\", "
    "seconds=0.001, on=a];\n"
    "x -> first [as=A]; first -> m [as=B]; m -> second [as=A]; second -> y [as=B];\n"
    "z -> last [as=x]; s -> last [as=y, delay=1]; last -> s [as=y] }";

void prepare_ports(Stage &stage) {
    stage.add("x", POLYTILE_F64, {40}, false);
    stage.add("y", POLYTILE_F64, {40}, true);
    stage.add("z", POLYTILE_F32, {40}, false);
}

polytile_status run_frames(polytile_stream *stream, polytile_array *const *fed, polytile_array *y) {
    const void *lent = nullptr;
    int64_t frame = 0;
    for (int f = 0; f < 3; f++) {
        SCENE_TRY(polytile_stream_push(stream, 2, fed, &frame));
        SCENE_TRY(polytile_stream_peek(stream, 1, &lent));
        SCENE_TRY(polytile_stream_pull(stream, 1, &y, &frame));
    }
    return frame == 2 ? POLYTILE_OK : POLYTILE_INTERNAL;
}

polytile_status write_measured(polytile_stream *stream) {
    char *json = nullptr;
    SCENE_TRY(polytile_stream_to_json(stream, &json));
    const bool is_right = std::string(json).find("\"from\": \"a\"") != std::string::npos;
    std::free(json);
    return is_right ? POLYTILE_OK : POLYTILE_INTERNAL;
}

bool is_reported(polytile_stream *stream) {
    polytile_stream_report report = {};
    polytile_stream_lane lane = {};
    polytile_stream_get_report(stream, &report);
    return report.n_pulled == 3 && polytile_stream_get_lanes(stream, 1, &lane) == report.n_lanes &&
           polytile_stream_get_seconds(stream, "first") > 0 &&
           polytile_stream_get_depth(stream) >= 1;
}

polytile_status run_graph(Stage &stage, const std::string &text) {
    polytile_array *fed[2] = {}, *y = nullptr;
    polytile_graph *graph = nullptr;
    polytile_machine *machine = nullptr;
    polytile_graph_plan *plan = nullptr;
    polytile_stream *stream = nullptr;
    SCENE_TRY(stage.wrap(stage.ctx, 0, &fed[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 2, &fed[1]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &y));
    SCENE_TRY(polytile_graph_parse(stage.ctx, text.c_str(), &graph));
    SCENE_TRY(polytile_graph_bind(graph, "smooth", &smooth_kernel));
    SCENE_TRY(polytile_graph_bind(graph, "last", &axpy_kernel));
    SCENE_TRY(polytile_machine_parse(stage.ctx,
                                     "digraph { a [device=\"host(threads=1)\"]; b "
                                     "[device=\"host(memory=1MiB,threads=1)\"] }",
                                     &machine));
    SCENE_TRY(polytile_machine_set_rate(machine, "a", "b", 1e9));
    SCENE_TRY(polytile_graph_plan_create(graph, machine, nullptr, &plan));
    SCENE_TRY(polytile_stream_create(graph, plan, nullptr, &stream));
    const bool is_named = polytile_graph_get_input_name(graph, 0) == std::string("x") &&
                          polytile_graph_get_output_name(graph, 0) == std::string("y");
    SCENE_TRY(run_frames(stream, fed, y));
    SCENE_TRY(write_measured(stream));
    const bool is_right = is_named && is_reported(stream);
    polytile_stream_destroy(stream);
    return is_right ? POLYTILE_OK : POLYTILE_INTERNAL;
}

POLYTILE_KERNEL(look_up, (e), (const float, x, 1), (const int32_t, K, 1), (float, z, 1)) {
    PT_AT(z, e) = PT_AT(x, PT_AT(K, e));
}

POLYTILE_KERNEL(put, (e), (const float, x, 1), (float, z, 1), (const int32_t, K, 1)) {
    PT_AT(z, PT_AT(K, e)) = PT_AT(x, e);
}

/** x, a permutation that stands for K, and z. */
void prepare_lookups(Stage &stage) {
    std::vector<int32_t> permutation;
    for (int32_t e = 0; e < 40; e++)
        permutation.push_back(7 * e % 40);
    stage.add("x", POLYTILE_F32, {40}, false);
    stage.add_indices("K", {40}, permutation);
    stage.add("z", POLYTILE_F32, {40}, true);
}

polytile_status run_a_stream_that_looks_up(Stage &stage) {
    polytile_array *x = nullptr, *K = nullptr, *z = nullptr;
    polytile_graph *graph = nullptr;
    polytile_machine *machine = nullptr;
    polytile_graph_plan *plan = nullptr;
    polytile_stream *stream = nullptr;
    SCENE_TRY(stage.wrap(stage.ctx, 0, &x));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &K));
    SCENE_TRY(stage.wrap(stage.ctx, 2, &z));
    SCENE_TRY(polytile_graph_parse(
        stage.ctx,
        "digraph { { node [type=f32, extents=40]; x; z } K [type=i32, extents=40];\n"
        "gather [kernel=\"gather[e]: in x[K[e]]; out z[e]\", seconds=0.001];\n"
        "x -> gather [as=x]; K -> gather [as=K]; gather -> z [as=z] }",
        &graph));
    SCENE_TRY(polytile_graph_bind(graph, "gather", &look_up_kernel));
    SCENE_TRY(
        polytile_machine_parse(stage.ctx, "digraph { a [device=\"host(threads=1)\"] }", &machine));
    SCENE_TRY(polytile_graph_plan_create(graph, machine, nullptr, &plan));
    SCENE_TRY(polytile_stream_create(graph, plan, nullptr, &stream));
    polytile_array *const fed[] = {x, K};
    for (int f = 0; f < 2; f++) {
        SCENE_TRY(polytile_stream_push(stream, 2, fed, nullptr));
        SCENE_TRY(polytile_stream_pull(stream, 1, &z, nullptr));
    }
    polytile_stream_destroy(stream);
    return POLYTILE_OK;
}

polytile_status run_a_scatter(Stage &stage) {
    polytile_array *arrays[3] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 2, &arrays[1]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[2]));
    SCENE_TRY(polytile_device_open(stage.ctx, "host(memory=1KiB,threads=1)", &device));
    SCENE_TRY(
        polytile_kernel_create(stage.ctx, "put[e]: in x[e]; out z[K[e]]", &put_kernel, &kernel));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(40), 3, arrays, nullptr);
}

polytile_status run_stream(Stage &stage) {
    return run_graph(stage, smoothing);
}

polytile_status run_in_turn(Stage &stage) {
    std::string text = smoothing;
    return run_graph(stage, text.replace(text.find("on=b"), 4, "on=\"b|a\""));
}

polytile_status run_in_parts(Stage &stage) {
    std::string text = smoothing;
    return run_graph(stage, text.replace(text.find("on=a"), 4, "on=\"a+b\""));
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
        {"PlanGraphsInTurn", none, plan_in_turn, POLYTILE_OK, {}},
        {"PlanGraphsInParts", none, plan_in_parts, POLYTILE_OK, {}},
        {"PlanGraphsByThePaper", none, plan_by_the_paper, POLYTILE_OK, {}},
        {"RunAStream", prepare_ports, run_stream, POLYTILE_OK, {}},
        {"RunAStreamInTurn", prepare_ports, run_in_turn, POLYTILE_OK, {}},
        {"RunAStreamInParts", prepare_ports, run_in_parts, POLYTILE_OK, {}},
        {"RunAStreamThatLooksUp", prepare_lookups, run_a_stream_that_looks_up, POLYTILE_OK, {}},
        {"RunAScatter", prepare_lookups, run_a_scatter, POLYTILE_OK, {}},
        {"ReadAWrongGraph", none, read_a_wrong_graph, POLYTILE_DECLARATION, {}},
    };
}
