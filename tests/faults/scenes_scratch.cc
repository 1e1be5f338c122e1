#include "faults/scene.h"
#include "launch/kernels.h"
#include "support/list.h"

#include <algorithm>
#include <cstring>

/* Scenes of launches that have scratch. */

namespace {

constexpr int64_t n = 40;
constexpr int n_launches = 3;

const char *const turn_text =
    "turn[i]: in A[i, :]; scratch i32 w[i, 1:n], f64 most[i]; out B[i, :]";

void prepare(Stage &stage, int64_t n_rows) {
    stage.add("A", POLYTILE_I32, {n_rows, n_rows}, false);
    stage.add("B", POLYTILE_I32, {n_rows, n_rows}, true);
}

void prepare_rows(Stage &stage) {
    prepare(stage, n);
}

/** A check runs each of its threads alone. */
void prepare_few(Stage &stage) {
    prepare(stage, 6);
}

/** Each launch leaves the same. */
void prepare_several(Stage &stage) {
    const size_t length = n;
    prepare_rows(stage);
    std::vector<int32_t> a(length * length), b(length * length);
    std::memcpy(a.data(), stage.fields[0].before.data(), 4 * a.size());
    for (size_t i = 0; i < length; i++) {
        int32_t most = 0;
        for (size_t k = 0; k + 1 < length; k++)
            most = std::max(most, a[i * length + k] - a[i * length + k + 1]);
        for (size_t k = 0; k < length; k++)
            b[i * length + k] = a[i * length + length - 1 - k] + most;
    }
    std::vector<unsigned char> bytes(4 * b.size());
    std::memcpy(bytes.data(), b.data(), bytes.size());
    for (int k = 1; k < n_launches; k++)
        stage.fields[1].between.push_back(bytes);
}

/** The length of a row, which the extents of scratch need. */
polytile_launch_options with_length(const polytile_parameter *length) {
    polytile_launch_options options = {};
    options.n_parameters = 1;
    options.parameters = length;
    return options;
}

polytile_status run_on(Stage &stage, const char *device_text) {
    polytile_array *arrays[2] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    const int64_t n_rows = stage.fields[0].extents[0];
    const polytile_parameter length = POLYTILE_PARAMETER("n", n_rows);
    const polytile_launch_options options = with_length(&length);
    SCENE_TRY(polytile_device_open(stage.ctx, device_text, &device));
    SCENE_TRY(polytile_kernel_create(stage.ctx, turn_text, &turn_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(n_rows), LIST(arrays), &options);
}

polytile_status run_in_place(Stage &stage) {
    return run_on(stage, "host(threads=2)");
}

polytile_status run_in_little_memory(Stage &stage) {
    return run_on(stage, "host(memory=4KiB,threads=2)");
}

polytile_status launch_several(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    polytile_kernel *kernel = nullptr;
    const polytile_parameter length = POLYTILE_PARAMETER("n", n);
    const polytile_launch_options options = with_length(&length);
    SCENE_TRY(polytile_kernel_create(stage.ctx, turn_text, &turn_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    SCENE_TRY(polytile_queue_attach(queue, 2, arrays));
    for (int k = 0; k < n_launches; k++)
        SCENE_TRY(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n), 2, arrays, &options));
    return polytile_queue_detach(queue, 2, arrays);
}

} // namespace

std::vector<Scene> scenes_of_scratch() {
    const auto plan = std::pair<const char *, const char *>{"POLYTILE_CHECK", "plan"};
    const char *const two_devices = "host(threads=1),host(memory=4KiB,threads=1)";
    const auto access = std::pair<const char *, const char *>{"POLYTILE_CHECK", "access"};
    return {
        {"RunWithScratchInPlace", prepare_rows, run_in_place, POLYTILE_OK, {}},
        {"RunWithScratch", prepare_rows, run_in_little_memory, POLYTILE_OK, {plan}},
        {"RunWithScratchChecked", prepare_few, run_in_place, POLYTILE_OK, {access}},
        {"QueueWithScratchInPlace",
         prepare_several,
         on_queue("host(threads=2)", launch_several),
         POLYTILE_OK,
         {}},
        {"QueueWithScratch",
         prepare_several,
         on_queue("host(memory=4KiB)", launch_several),
         POLYTILE_OK,
         {plan}},
        {"QueueWithScratchOverDevices",
         prepare_several,
         on_queue(two_devices, launch_several),
         POLYTILE_OK,
         {}},
    };
}
