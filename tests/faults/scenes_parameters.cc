#include "faults/scene.h"
#include "launch/kernels.h"
#include "support/list.h"

#include <cstring>

/* Scenes of launches that give values of parameters. */

namespace {

constexpr int64_t n = 1000;
constexpr int n_launches = 4;

const char *const axpy_text = "axpy[i](f32 a, i64 b): in x[i]; inout y[i]";

void prepare_axpy(Stage &stage) {
    stage.add("x", POLYTILE_F32, {n}, false);
    stage.add("y", POLYTILE_F32, {n}, true);
}

/** A check runs each of its threads alone. */
void prepare_few(Stage &stage) {
    stage.add("x", POLYTILE_F32, {12}, false);
    stage.add("y", POLYTILE_F32, {12}, true);
}

/** What each of several launches leaves of y. */
void prepare_several(Stage &stage) {
    prepare_axpy(stage);
    std::vector<float> x(n), y(n);
    std::memcpy(x.data(), stage.fields[0].before.data(), 4 * n);
    std::memcpy(y.data(), stage.fields[1].before.data(), 4 * n);
    for (int k = 1; k < n_launches; k++) {
        for (size_t i = 0; i < n; i++)
            y[i] += static_cast<float>(k) * x[i] + static_cast<float>(k * n);
        std::vector<unsigned char> bytes(4 * n);
        std::memcpy(bytes.data(), y.data(), 4 * n);
        stage.fields[1].between.push_back(bytes);
    }
}

polytile_status create_by_calls(Stage &stage, polytile_kernel **kernel) {
    const char *const indices[] = {"i"}, *const parameters[] = {"b"};
    polytile_declaration *declaration = nullptr;
    polytile_subscript point = {};
    point.lo.index[0] = point.hi.index[0] = point.step = 1;
    SCENE_TRY(
        polytile_declaration_create(stage.ctx, "axpy", 1, indices, 1, parameters, &declaration));
    SCENE_TRY(polytile_declaration_add_parameter(declaration, POLYTILE_F32, "a"));
    SCENE_TRY(polytile_declaration_add(declaration, POLYTILE_IN, false, "x", 1, &point));
    SCENE_TRY(polytile_declaration_add(declaration, POLYTILE_INOUT, false, "y", 1, &point));
    SCENE_TRY(polytile_kernel_create_from(declaration, &axpy_kernel, kernel));
    polytile_declaration_destroy(declaration);
    return POLYTILE_OK;
}

polytile_status run_with_values(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    const polytile_parameter values[] = {POLYTILE_PARAMETER("b", -2), POLYTILE_PARAMETER("a", 3)};
    polytile_launch_options options = {};
    options.n_parameters = 2;
    options.parameters = values;
    SCENE_TRY(polytile_device_open(stage.ctx, "host(memory=4KiB,threads=2)", &device));
    SCENE_TRY(polytile_kernel_create(stage.ctx, axpy_text, &axpy_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(stage.fields[0].extents[0]), LIST(arrays),
                        &options);
}

/** The plan is made without values. */
polytile_status run_a_plan_with_values(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_plan *plan = nullptr;
    const polytile_parameter values[] = {POLYTILE_PARAMETER("b", 5), POLYTILE_PARAMETER("a", 0.5f)};
    polytile_launch_options options = {};
    SCENE_TRY(polytile_device_open(stage.ctx, "host(memory=4KiB)", &device));
    SCENE_TRY(create_by_calls(stage, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    options.plan.limit_bytes = polytile_device_get_limit(device);
    SCENE_TRY(polytile_plan_create(kernel, POLYTILE_EXTENTS(n), LIST(arrays), &options, &plan));
    options.n_parameters = 2;
    options.parameters = values;
    return polytile_plan_run(plan, device, kernel, LIST(arrays), &options);
}

polytile_status launch_several(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_kernel_create(stage.ctx, axpy_text, &axpy_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    SCENE_TRY(polytile_queue_attach(queue, 2, arrays));
    polytile_queue_pause(queue);
    for (int k = 1; k <= n_launches; k++) {
        const polytile_parameter values[] = {POLYTILE_PARAMETER("a", k),
                                             POLYTILE_PARAMETER("b", k)};
        polytile_launch_options options = {};
        options.n_parameters = 2;
        options.parameters = values;
        SCENE_TRY(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n), 2, arrays, &options));
    }
    polytile_queue_resume(queue);
    return polytile_queue_detach(queue, 2, arrays);
}

polytile_status run_without_a_value(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    const polytile_parameter value = POLYTILE_PARAMETER("b", 1);
    polytile_launch_options options = {};
    options.n_parameters = 1;
    options.parameters = &value;
    SCENE_TRY(polytile_device_open(stage.ctx, "host", &device));
    SCENE_TRY(create_by_calls(stage, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(n), LIST(arrays), &options);
}

} // namespace

std::vector<Scene> scenes_of_parameters() {
    const auto plan = std::pair<const char *, const char *>{"POLYTILE_CHECK", "plan"};
    const char *const two_devices = "host(threads=1),host(memory=4KiB,threads=1)";
    const auto access = std::pair<const char *, const char *>{"POLYTILE_CHECK", "access"};
    return {
        {"RunWithValues", prepare_axpy, run_with_values, POLYTILE_OK, {}},
        {"RunWithValuesChecked", prepare_few, run_with_values, POLYTILE_OK, {access}},
        {"RunAPlanWithValues", prepare_axpy, run_a_plan_with_values, POLYTILE_OK, {}},
        {"RunWithoutAValue", prepare_axpy, run_without_a_value, POLYTILE_DECLARATION, {}},
        {"QueueWithValuesInPlace",
         prepare_several,
         on_queue("host(threads=2)", launch_several),
         POLYTILE_OK,
         {}},
        {"QueueWithValues",
         prepare_several,
         on_queue("host(memory=4KiB)", launch_several),
         POLYTILE_OK,
         {plan}},
        {"QueueWithValuesOverDevices",
         prepare_several,
         on_queue(two_devices, launch_several),
         POLYTILE_OK,
         {}},
    };
}
