#include "faults/scene.h"

#include <polytile/compile.h>

/* Scenes of kernels from text: compiled once, and then found where compiled bodies are kept. */

namespace {

constexpr int64_t n = 1000;

void prepare_sum(Stage &stage) {
    stage.add("x", POLYTILE_F32, {n}, false);
    stage.add("y", POLYTILE_F32, {n}, true);
}

polytile_status run_text(Stage &stage) {
    polytile_kernel *kernel = nullptr;
    polytile_device *device = nullptr;
    polytile_array *arrays[2];
    SCENE_TRY(polytile_kernel_compile(stage.ctx, "sum[i]: in x[i]; inout y[i]", "y(i) += x(i);",
                                      nullptr, &kernel));
    for (size_t f = 0; f < 2; f++)
        SCENE_TRY(stage.wrap(stage.ctx, f, &arrays[f]));
    SCENE_TRY(polytile_device_open(stage.ctx, "host(memory=4KiB)", &device));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(n), 2, arrays, nullptr);
}

polytile_status compile_wrongly(Stage &stage) {
    polytile_kernel *kernel = nullptr;
    return polytile_kernel_compile(stage.ctx, "sum[i]: in x[i]; inout y[i]", "x(i) += y(i);",
                                   nullptr, &kernel);
}

} // namespace

std::vector<Scene> scenes_of_compiling() {
    return {
        {"RunText", prepare_sum, run_text, POLYTILE_OK, {}},
        {"CompileWrongly", prepare_sum, compile_wrongly, POLYTILE_DECLARATION, {}},
    };
}
