#include "faults/scene.h"
#include "launch/kernels.h"
#include "support/failing_api.h"
#include "support/fake_cuda.h"
#include "support/list.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <memory>

/* Scenes on a CUDA runtime that needs no GPU. */

namespace {

const polytile_type f32 = POLYTILE_F32;

/** The runtime, whose calls fail when told to, and the bodies of its kernels. */
struct World {
    FakeCuda cuda{1};
    FailingApi failing;
    polytile_implementation axpy = axpy_kernel, dot = dot_kernel, jacobi = jacobi_kernel;

    World() {
        /* Not of the fake: where there is a GPU it keeps what it takes the first time. */
        cudaGetErrorString(cudaSuccess);
        for (polytile_implementation *kernel : {&axpy, &dot, &jacobi}) {
            kernel->cuda = reinterpret_cast<const void *>(kernel->host);
            cuda.add_kernel(kernel->cuda, *kernel);
        }
    }
    ~World() {
        if (cuda.violations() + cuda.leaks() != "") {
            std::fprintf(stderr, "CUDA: %s%s\n", cuda.violations().c_str(), cuda.leaks().c_str());
            std::abort();
        }
    }
};

World *world; /* of the scene at hand */

void make_world(Stage &stage) {
    auto made = std::make_shared<World>();
    world = made.get();
    stage.let_cuda_fail = [made](int64_t n) { made->failing.let_fail(n == 0 ? INT64_MAX : n); };
    stage.stop_cuda = [made](int64_t *n_calls) {
        *n_calls = INT64_MAX - made->failing.n_left();
        made->failing.stop();
        return made->failing.failed();
    };
}

void prepare_square(Stage &stage) {
    make_world(stage);
    stage.add("A", f32, {40, 40}, true);
    stage.add("B", f32, {40, 40}, true);
}

void prepare_line(Stage &stage) {
    make_world(stage);
    stage.add("x", POLYTILE_F64, {3000}, false);
    stage.add("y", POLYTILE_F64, {3000}, false);
    stage.add("s", POLYTILE_F64, {1}, true);
}

const char *const streamed =
    "digraph { { node [type=f32, extents=100]; x; z; y; s }\n"
    "{ node [kernel=\"axpy[i](f32 a, i64 b): in x[i]; inout y[i]\", params=\"a=2,b=3\", "
    "seconds=0.001]; f [on=gpu]; g [on=gpu] }\n"
    "x -> f [as=x]; z -> f [as=y]; f -> y [as=y]; x -> g [as=x]; s -> g [as=y, delay=1]; "
    "g -> s [as=y] }";

void prepare_ports(Stage &stage) {
    make_world(stage);
    stage.add("x", f32, {100}, false);
    stage.add("z", f32, {100}, false);
    stage.add("y", f32, {100}, true);
}

/** Frames through a GPU, with state that stays there. */
polytile_status run_stream(Stage &stage) {
    polytile_array *ports[3] = {};
    polytile_graph *graph = nullptr;
    polytile_machine *machine = nullptr;
    polytile_graph_plan *plan = nullptr;
    polytile_stream *stream = nullptr;
    for (size_t p = 0; p < 3; p++)
        SCENE_TRY(stage.wrap(stage.ctx, p, &ports[p]));
    SCENE_TRY(polytile_graph_parse(stage.ctx, streamed, &graph));
    SCENE_TRY(polytile_graph_bind(graph, "axpy", &world->axpy));
    SCENE_TRY(polytile_machine_parse(stage.ctx, "digraph { gpu [device=\"cuda:0(memory=64MiB)\"] }",
                                     &machine));
    SCENE_TRY(polytile_graph_plan_create(graph, machine, nullptr, &plan));
    SCENE_TRY(polytile_stream_create(graph, plan, nullptr, &stream));
    for (int f = 0; f < 3; f++) {
        SCENE_TRY(polytile_stream_push(stream, 2, ports, nullptr));
        SCENE_TRY(polytile_stream_pull(stream, 1, &ports[2], nullptr));
    }
    polytile_stream_destroy(stream);
    return POLYTILE_OK;
}

polytile_status run_jacobi(Stage &stage, const char *device_text, bool is_traced) {
    polytile_array *arrays[2] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_device_open(stage.ctx, device_text, &device));
    SCENE_TRY(polytile_kernel_create(stage.ctx,
                                     "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                                     &world->jacobi, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
    if (is_traced)
        SCENE_TRY(polytile_device_trace(device, stage.path("trace.json")));
    return polytile_run(device, kernel, POLYTILE_INTERIOR(1, 40, 40), LIST(arrays), nullptr);
}

polytile_status run_on_cuda(Stage &stage) {
    return run_jacobi(stage, "cuda:0(memory=6000B,threads=2)", false);
}

polytile_status run_traced_on_cuda(Stage &stage) {
    return run_jacobi(stage, "cuda:0(memory=64KiB,threads=1)", true);
}

void prepare_axpy(Stage &stage) {
    make_world(stage);
    stage.add("x", f32, {1000}, false);
    stage.add("y", f32, {1000}, true);
}

polytile_status run_with_values_on_cuda(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    const polytile_parameter values[] = {POLYTILE_PARAMETER("b", -2), POLYTILE_PARAMETER("a", 3)};
    polytile_launch_options options = {};
    options.n_parameters = 2;
    options.parameters = values;
    SCENE_TRY(polytile_device_open(stage.ctx, "cuda:0(memory=4KiB,threads=1)", &device));
    SCENE_TRY(polytile_kernel_create(stage.ctx, "axpy[i](f32 a, i64 b): in x[i]; inout y[i]",
                                     &world->axpy, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(1000), LIST(arrays), &options);
}

polytile_status reduce_in_queue(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_kernel_create(stage.ctx, "dot[i]: in x[i], y[i]; out sum s[0]", &world->dot,
                                     &kernel));
    for (size_t k = 0; k < 3; k++)
        SCENE_TRY(stage.wrap(stage.ctx, k, &arrays[k]));
    SCENE_TRY(polytile_queue_attach(queue, 3, arrays));
    SCENE_TRY(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(3000), 3, arrays, nullptr));
    return polytile_queue_wait(queue);
}

/** Results that the GPU alone has are lost with it: then detaching fails, and marks them. */
polytile_status queue_on_cuda(Stage &stage) {
    polytile_queue *queue = nullptr;
    polytile_array *arrays[3] = {};
    SCENE_TRY(polytile_queue_create(stage.ctx, "cuda:0(memory=16KiB,threads=1)", &queue));
    const polytile_status status = reduce_in_queue(stage, queue, arrays);
    if (status != POLYTILE_OK)
        stage.say();
    polytile_status detached = POLYTILE_OK;
    for (polytile_array *array : arrays) {
        const polytile_status one =
            array == nullptr ? POLYTILE_OK : polytile_queue_detach(queue, 1, &array);
        if (status == POLYTILE_OK && detached == POLYTILE_OK && one != POLYTILE_OK)
            stage.say();
        detached = detached == POLYTILE_OK ? one : detached;
    }
    return status == POLYTILE_OK ? detached : status;
}

} // namespace

std::vector<Scene> scenes_on_cuda() {
    return {
        {"RunOnCuda", prepare_square, run_on_cuda, POLYTILE_OK, {}},
        {"RunTracedOnCuda", prepare_square, run_traced_on_cuda, POLYTILE_OK, {}},
        {"RunWithValuesOnCuda", prepare_axpy, run_with_values_on_cuda, POLYTILE_OK, {}},
        {"QueueOnCuda", prepare_line, queue_on_cuda, POLYTILE_OK, {}},
        {"RunAStreamOnCuda", prepare_ports, run_stream, POLYTILE_OK, {}},
    };
}
