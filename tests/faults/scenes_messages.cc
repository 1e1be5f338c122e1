#include "faults/scene.h"
#include "support/list.h"

#include <polytile/message.h>

/* Scenes of team kernels. */

namespace {

constexpr int64_t n_slots = 3, n = 12000;

/* A long message and a short one go round, and all slots work together. */
POLYTILE_TEAM_KERNEL(go_round, (s), (float, A, 2)) {
    const int right = (pt_rank() + 1) % pt_ranks(),
              left = (pt_rank() + pt_ranks() - 1) % pt_ranks();
    pt_request request;
    (void)(pt_sendrecv_replace(&PT_AT(A, s, 0), 4 * n, right, left, 0, nullptr) ||
           pt_isend(&PT_AT(A, s, 0), 4, right, 1, &request) ||
           pt_recv(&PT_AT(A, s, 1), 4, left, 1, nullptr) || pt_wait(&request, nullptr) ||
           pt_bcast(&PT_AT(A, s, 2), 40, 0) ||
           pt_reduce(&PT_AT(A, s, 2), &PT_AT(A, s, 20), 10, POLYTILE_SUM, 1) || pt_barrier());
}

POLYTILE_TEAM_KERNEL(answer, (s), (float, A, 2)) {
    (void)(pt_send(&PT_AT(A, s, 0), 4, PT_PROGRAM, 1) ||
           pt_recv(&PT_AT(A, s, 0), 4 * n, PT_PROGRAM, 2, nullptr));
}

POLYTILE_TEAM_KERNEL(hang, (s), (float, A, 2)) {
    (void)pt_recv(&PT_AT(A, s, 0), 4, PT_ANY, 1, nullptr);
}

POLYTILE_TEAM_KERNEL(tell, (s), (const float, A, 2)) {
    (void)pt_send(&PT_AT(A, s, 0), 4, PT_PROGRAM, 1);
}

void prepare(Stage &stage) {
    stage.add("A", POLYTILE_F32, {n_slots, n}, true);
}

polytile_status run_on(Stage &stage, const char *device_text, const char *declaration,
                       const polytile_implementation *implementation) {
    polytile_array *array = nullptr;
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_device_open(stage.ctx, device_text, &device));
    SCENE_TRY(polytile_kernel_create(stage.ctx, declaration, implementation, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &array));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(n_slots), 1, &array, nullptr);
}

polytile_status run_in_place(Stage &stage) {
    return run_on(stage, "host", "go_round[s]: inout A[s, :]", &go_round_kernel);
}

polytile_status run_in_memory(Stage &stage) {
    return run_on(stage, "host(memory=1MiB)", "go_round[s]: inout A[s, :]", &go_round_kernel);
}

polytile_status run_into_a_deadlock(Stage &stage) {
    return run_on(stage, "host", "hang[s]: inout A[s, :]", &hang_kernel);
}

polytile_status talk(polytile_queue *queue, polytile_kernel *kernel, polytile_array *array) {
    static float data[n];
    SCENE_TRY(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n_slots), 1, &array, nullptr));
    for (int slot = 0; slot < n_slots; slot++) {
        SCENE_TRY(polytile_message_recv(queue, data, 4, slot, 1, nullptr));
        for (int64_t k = 1; k < n; k++)
            data[k] = static_cast<float>(slot);
        SCENE_TRY(polytile_message_send(queue, data, slot == 1 ? 8 : 4 * n, slot, 2));
    }
    return POLYTILE_OK;
}

/* Of a launch that fails the queue tells why; the program's calls tell that it is over. */
polytile_status take_part_on(Stage &stage, const char *devices) {
    polytile_array *array = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_queue_create(stage.ctx, devices, &queue));
    SCENE_TRY(
        polytile_kernel_create(stage.ctx, "answer[s]: inout A[s, :]", &answer_kernel, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &array));
    SCENE_TRY(polytile_queue_attach(queue, 1, &array));
    const polytile_status status = talk(queue, kernel, array);
    if (status != POLYTILE_OK)
        stage.say();
    const polytile_status detached = polytile_queue_detach(queue, 1, &array);
    if (detached != POLYTILE_OK)
        stage.say();
    return detached == POLYTILE_OK ? status : detached;
}

polytile_status take_part(Stage &stage) {
    return take_part_on(stage, "host(memory=1MiB)");
}

polytile_status take_part_on_several(Stage &stage) {
    return take_part_on(stage, "host,host");
}

/* Messages of a launch are there until the next one is queued: also after one that is refused. */
polytile_status launch_twice(Stage &stage, polytile_queue *queue, polytile_kernel *kernel,
                             polytile_array *array) {
    float number;
    SCENE_TRY(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n_slots), 1, &array, nullptr));
    SCENE_TRY(polytile_queue_wait(queue));
    const polytile_status launched =
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n_slots), 1, &array, nullptr);
    if (launched != POLYTILE_OK)
        stage.say();
    for (int slot = 0; launched != POLYTILE_OK && slot < n_slots; slot++)
        SCENE_TRY(polytile_message_recv(queue, &number, 4, slot, 1, nullptr));
    return launched;
}

polytile_status keep_messages_on(Stage &stage, const char *devices) {
    polytile_array *array = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_queue_create(stage.ctx, devices, &queue));
    SCENE_TRY(polytile_kernel_create(stage.ctx, "tell[s]: in A[s, :]", &tell_kernel, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &array));
    SCENE_TRY(polytile_queue_attach(queue, 1, &array));
    const polytile_status status = launch_twice(stage, queue, kernel, array);
    if (status != POLYTILE_OK && stage.said.empty())
        stage.say();
    const polytile_status detached = polytile_queue_detach(queue, 1, &array);
    return status == POLYTILE_OK ? detached : status;
}

polytile_status keep_messages(Stage &stage) {
    return keep_messages_on(stage, "host");
}

polytile_status keep_messages_on_several(Stage &stage) {
    return keep_messages_on(stage, "host,host");
}

/* Slots of several devices. */
polytile_status run_on_several(Stage &stage) {
    polytile_array *array = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_queue_create(stage.ctx, "host,host(memory=1MiB)", &queue));
    SCENE_TRY(
        polytile_kernel_create(stage.ctx, "go_round[s]: inout A[s, :]", &go_round_kernel, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &array));
    SCENE_TRY(polytile_queue_attach(queue, 1, &array));
    const polytile_status status =
        polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n_slots), 1, &array, nullptr);
    if (status != POLYTILE_OK)
        stage.say();
    const polytile_status detached = polytile_queue_detach(queue, 1, &array);
    return detached == POLYTILE_OK ? status : detached;
}

} // namespace

std::vector<Scene> scenes_of_messages() {
    const auto plan = std::pair<const char *, const char *>{"POLYTILE_CHECK", "plan"};
    return {
        {"MessagesInPlace", prepare, run_in_place, POLYTILE_OK, {}},
        {"Messages", prepare, run_in_memory, POLYTILE_OK, {plan}},
        {"MessagesDeadlock", prepare, run_into_a_deadlock, POLYTILE_DEADLOCK, {}},
        {"MessagesOfTheProgram", prepare, take_part, POLYTILE_OK, {}},
        {"MessagesKept", prepare, keep_messages, POLYTILE_OK, {}},
        {"MessagesKeptOnSeveral", prepare, keep_messages_on_several, POLYTILE_OK, {}},
        {"MessagesOnSeveral", prepare, run_on_several, POLYTILE_OK, {plan}},
        {"MessagesOfTheProgramOnSeveral", prepare, take_part_on_several, POLYTILE_OK, {}},
    };
}
