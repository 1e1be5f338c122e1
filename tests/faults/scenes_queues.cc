#include "faults/host_scenes.h"

#include <algorithm>
#include <cstring>
#include <thread>

/* Scenes of queues. */

namespace {

/** Steps of Jacobi as a plain loop, with what each leaves. B begins as scratch memory does. */
void prepare_steps(Stage &stage) {
    prepare_jacobi(stage);
    std::vector<unsigned char> &scratch = stage.fields[1].before;
    std::fill(scratch.begin(), scratch.end(), static_cast<unsigned char>(0));
    std::vector<float> values[2] = {std::vector<float>(1600), std::vector<float>(1600)};
    for (size_t k = 0; k < 2; k++)
        std::memcpy(values[k].data(), stage.fields[k].before.data(), 6400);
    for (size_t step = 0; step < 6; step++) {
        const std::vector<float> &from = values[step % 2];
        std::vector<float> &to = values[1 - step % 2];
        for (size_t i = 1; i < 39; i++)
            for (size_t j = 1; j < 39; j++)
                to[40 * i + j] = 0.25f * (from[40 * (i - 1) + j] + from[40 * (i + 1) + j] +
                                          from[40 * i + j - 1] + from[40 * i + j + 1]);
        std::vector<unsigned char> bytes(6400);
        std::memcpy(bytes.data(), to.data(), 6400);
        stage.fields[1 - step % 2].between.push_back(bytes);
    }
}

polytile_status step_in_queue(Stage &stage, polytile_queue *queue, bool with_scratch,
                              polytile_array **arrays) {
    polytile_kernel *kernel = nullptr;
    const int64_t extents[] = {40, 40};
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(polytile_queue_attach(queue, 1, &arrays[0]));
    if (with_scratch) {
        SCENE_TRY(polytile_queue_create_array(queue, "B", f32, 2, extents, &arrays[1]));
    } else {
        SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
        SCENE_TRY(polytile_queue_attach(queue, 1, &arrays[1]));
    }
    polytile_queue_pause(queue);
    for (int step = 0; step < 6; step++)
        SCENE_TRY(polytile_queue_launch(
            queue, kernel, POLYTILE_INTERIOR(1, 40, 40), 2,
            std::vector<polytile_array *>{arrays[step % 2], arrays[1 - step % 2]}.data(), nullptr));
    polytile_queue_resume(queue);
    SCENE_TRY(polytile_queue_wait_for(queue, arrays[0]));
    SCENE_TRY(polytile_queue_wait(queue));
    if (with_scratch) {
        SCENE_TRY(polytile_queue_discard(queue, 1, &arrays[1]));
        polytile_array_destroy(arrays[1]);
    }
    return polytile_queue_detach(queue, with_scratch ? 1 : 2, arrays);
}

polytile_status use_queue(Stage &stage, const char *device_text, bool with_scratch,
                          const char *layout = nullptr) {
    const polytile_share_options options = {nullptr, layout, nullptr, 0, {}};
    polytile_queue *queue = nullptr;
    polytile_report report;
    SCENE_TRY(polytile_queue_create_shared(stage.ctx, device_text, &options, &queue));
    polytile_array *arrays[2] = {};
    if (layout != nullptr)
        SCENE_TRY(polytile_queue_trace(queue, stage.path("trace.json")));
    const polytile_status status = step_in_queue(stage, queue, with_scratch, arrays);
    if (status != POLYTILE_OK) {
        stage.say();
        hand_back(queue, arrays, with_scratch ? 1 : 2);
        return status;
    }
    polytile_queue_get_report(queue, true, &report);
    if (polytile_queue_get_device(queue) == nullptr)
        return POLYTILE_INTERNAL;
    polytile_queue_destroy(queue);
    return POLYTILE_OK;
}

polytile_status queue_in_place(Stage &stage) {
    return use_queue(stage, "host(threads=2)", false);
}

polytile_status queue_in_little_memory(Stage &stage) {
    return use_queue(stage, "host(memory=8KiB)", true);
}

polytile_status queue_of_scratch_in_place(Stage &stage) {
    return use_queue(stage, "host", true);
}

polytile_status queue_over_devices(Stage &stage) {
    return use_queue(stage, "host(memory=16KiB),host(memory=16KiB)", false);
}

polytile_status queue_over_devices_with_scratch(Stage &stage) {
    return use_queue(stage, "host(threads=1),host(threads=1)", true);
}

polytile_status queue_by_speed(Stage &stage) {
    return use_queue(stage, "host(threads=1,memory=4KiB),host(threads=1,memory=4KiB)", false,
                     "weighted");
}

polytile_status queue_from_a_pool(Stage &stage) {
    return use_queue(stage, "host(threads=1,memory=8KiB),host(threads=1)", false, "pool");
}

void note_call(polytile_status, void *user) {
    ++*static_cast<int *>(user);
}

/** A function is called for what is queued, and never for what is refused. */
polytile_status notify_and_poll(Stage &stage, polytile_queue *queue, polytile_array **arrays,
                                int *n_calls) {
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    for (size_t k = 0; k < 2; k++) {
        SCENE_TRY(stage.wrap(stage.ctx, k, &arrays[k]));
        SCENE_TRY(polytile_queue_attach(queue, 1, &arrays[k]));
    }
    SCENE_TRY(
        polytile_queue_launch(queue, kernel, POLYTILE_INTERIOR(1, 40, 40), 2, arrays, nullptr));
    const polytile_status status = polytile_queue_notify(queue, arrays[1], note_call, n_calls);
    if (status != POLYTILE_OK)
        stage.say();
    (void)polytile_queue_get_progress(queue);
    while (!polytile_queue_test(queue, nullptr))
        std::this_thread::yield();
    if (*n_calls != (status == POLYTILE_OK ? 1 : 0))
        return POLYTILE_INTERNAL;
    polytile_queue_cancel(queue);
    polytile_device_cancel(polytile_queue_get_device(queue));
    (void)polytile_array_get_state(arrays[1]);
    return status != POLYTILE_OK ? status : polytile_queue_detach(queue, 2, arrays);
}

polytile_status notify_of(Stage &stage, const char *device_text) {
    int n_calls = 0;
    polytile_array *arrays[2] = {};
    polytile_queue *queue = nullptr;
    SCENE_TRY(polytile_queue_create(stage.ctx, device_text, &queue));
    const polytile_status status = notify_and_poll(stage, queue, arrays, &n_calls);
    if (status != POLYTILE_OK) {
        if (stage.said.empty())
            stage.say();
        hand_back(queue, arrays, 2);
    }
    return status;
}

polytile_status notify_in_little_memory(Stage &stage) {
    return notify_of(stage, "host(memory=8KiB)");
}

polytile_status notify_over_devices(Stage &stage) {
    return notify_of(stage, "host(memory=16KiB),host(memory=16KiB)");
}

polytile_status add_up_in_queue(Stage &stage, const char *device_text) {
    polytile_array *arrays[3] = {};
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_queue_create(stage.ctx, device_text, &queue));
    SCENE_TRY(create(stage, dot_text, &dot_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    SCENE_TRY(polytile_queue_attach(queue, 3, arrays));
    const polytile_status status =
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(5000), POLYTILE_BY_NAME, nullptr);
    if (status != POLYTILE_OK)
        stage.say();
    const polytile_status detached = polytile_queue_detach(queue, 3, arrays);
    return status == POLYTILE_OK ? detached : status;
}

polytile_status reduce_over_devices(Stage &stage) {
    return add_up_in_queue(stage, "host(memory=16KiB),host(memory=16KiB)");
}

polytile_status reduce_in_queue(Stage &stage) {
    return add_up_in_queue(stage, "host(memory=16KiB)");
}

} // namespace

std::vector<Scene> scenes_of_queues() {
    const auto plan = std::pair<const char *, const char *>{"POLYTILE_CHECK", "plan"};
    const auto guards = std::pair<const char *, const char *>{"POLYTILE_CHECK", "attach"};
    return {
        {"QueueInPlace", prepare_steps, queue_in_place, POLYTILE_OK, {}},
        {"QueueInLittleMemory", prepare_steps, queue_in_little_memory, POLYTILE_OK, {}},
        {"QueueChecked", prepare_steps, queue_in_little_memory, POLYTILE_OK, {plan}},
        {"QueueGuarded", prepare_steps, queue_in_place, POLYTILE_OK, {guards}},
        {"QueueOfScratch", prepare_steps, queue_of_scratch_in_place, POLYTILE_OK, {}},
        {"QueueOverDevices", prepare_steps, queue_over_devices, POLYTILE_OK, {}},
        {"QueueOverDevicesChecked", prepare_steps, queue_over_devices, POLYTILE_OK, {plan}},
        {"QueueOverDevicesWithScratch",
         prepare_steps,
         queue_over_devices_with_scratch,
         POLYTILE_OK,
         {}},
        {"QueueBySpeed", prepare_steps, queue_by_speed, POLYTILE_OK, {}},
        {"QueueFromAPool", prepare_steps, queue_from_a_pool, POLYTILE_OK, {}},
        {"NotifyInQueue", prepare_jacobi, notify_in_little_memory, POLYTILE_OK, {}},
        {"NotifyGuarded", prepare_jacobi, notify_in_little_memory, POLYTILE_OK, {guards}},
        {"NotifyOverDevices", prepare_jacobi, notify_over_devices, POLYTILE_OK, {}},
        {"ReduceInQueue", prepare_dot, reduce_in_queue, POLYTILE_OK, {}},
        {"ReduceOverDevices", prepare_dot, reduce_over_devices, POLYTILE_OK, {}},
        {"ReduceOverDevicesChecked", prepare_dot, reduce_over_devices, POLYTILE_OK, {plan}},
    };
}
