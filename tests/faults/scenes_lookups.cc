#include "api/compressed_rows.h"
#include "faults/host_scenes.h"

#include <algorithm>
#include <cstring>

/* Scenes of launches whose subscripts hold elements of index arrays. */

namespace {

COMPRESSED_ROWS(rows, int32_t)
MATRIX_ENTRIES(entries, int32_t)

POLYTILE_KERNEL(reverse, (e), (int32_t, K, 1)) {
    PT_AT(K, e) = static_cast<int32_t>(1199 - e);
}
POLYTILE_KERNEL(gather, (e), (const float, x, 1), (const int32_t, K, 1), (float, z, 1)) {
    PT_AT(z, e) = PT_AT(x, PT_AT(K, e));
}
POLYTILE_KERNEL(permute, (e), (const float, x, 1), (float, z, 1), (const int32_t, K, 1)) {
    PT_AT(z, PT_AT(K, e)) = PT_AT(x, e);
}
POLYTILE_KERNEL(relax, (i), (const int32_t, E, 2), (const float, u, 1), (float, v, 1)) {
    PT_AT(v, i) = 0.5f * PT_AT(u, PT_AT(E, i, 0)) + 0.5f * PT_AT(u, PT_AT(E, i, 1));
}

const char *const rows_text = "rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]";
const char *const entries_text = "entries[e]: in V[e], x[K[e]]; sum y[R[e]]";

enum { N_ROWS = 300, EACH = 4, N_ENTRIES = N_ROWS * EACH, N_CELLS = 1200, N_STEPS = 4 };

/** Two bands half a vector apart, so that what lies between need not move. */
int32_t column(int32_t entry, int32_t n_rows) {
    return (entry / EACH / 2 + entry % EACH + entry % 2 * n_rows / 2) % n_rows;
}

/** V, P, x, K and y. */
void prepare(Stage &stage, int32_t n_rows) {
    std::vector<int32_t> ends(1, 0), columns;
    for (int32_t e = 0; e < EACH * n_rows; e++)
        columns.push_back(column(e, n_rows));
    for (int32_t i = 0; i < n_rows; i++)
        ends.push_back(EACH * (i + 1));
    stage.add("V", f32, {EACH * n_rows}, false);
    stage.add_indices("P", {n_rows + 1}, ends);
    stage.add("x", f32, {n_rows}, false);
    stage.add_indices("K", {EACH * n_rows}, columns);
    stage.add("y", f32, {n_rows}, true);
}

void prepare_rows(Stage &stage) {
    prepare(stage, N_ROWS);
}

/** Threads are looked at one by one. */
void prepare_few_rows(Stage &stage) {
    prepare(stage, 3);
}

/** V, x, K, y and R. */
void prepare_entries(Stage &stage) {
    std::vector<int32_t> columns, of_rows;
    for (int32_t e = 0; e < N_ENTRIES; e++) {
        columns.push_back(column(e, N_ROWS));
        of_rows.push_back(e / EACH);
    }
    stage.add("V", f32, {N_ENTRIES}, false);
    stage.add("x", f32, {N_ROWS}, false);
    stage.add_indices("K", {N_ENTRIES}, columns);
    stage.add("y", f32, {N_ROWS}, true);
    stage.add_indices("R", {N_ENTRIES}, of_rows);
}

/** x, z, and K, which says where elements of x go. */
void prepare_permutation(Stage &stage) {
    std::vector<int32_t> permutation;
    for (int32_t e = 0; e < N_ENTRIES; e++)
        permutation.push_back(7 * e % N_ENTRIES);
    stage.add("x", f32, {N_ENTRIES}, false);
    stage.add("z", f32, {N_ENTRIES}, true);
    stage.add_indices("K", {N_ENTRIES}, permutation);
}

/** x, z, and K, which a launch makes. */
void prepare_made(Stage &stage) {
    prepare_permutation(stage);
    stage.fields[2].is_written = true;
}

int32_t neighbour(int32_t cell, int k) {
    const int32_t away = cell % 3 + 1;
    return k == 0 ? std::max(0, cell - away) : std::min(N_CELLS - 1, cell + away);
}

/** E, and u and v, with what each step leaves. */
void prepare_mesh(Stage &stage) {
    std::vector<int32_t> neighbours;
    for (int32_t i = 0; i < N_CELLS; i++)
        for (int k = 0; k < 2; k++)
            neighbours.push_back(neighbour(i, k));
    stage.add_indices("E", {N_CELLS, 2}, neighbours);
    stage.add("u", f32, {N_CELLS}, true);
    stage.add("v", f32, {N_CELLS}, true);
    std::vector<float> cells[2] = {std::vector<float>(N_CELLS), std::vector<float>(N_CELLS)};
    std::memcpy(cells[0].data(), stage.fields[1].before.data(), N_CELLS * sizeof(float));
    for (size_t step = 0; step < N_STEPS; step++) {
        const std::vector<float> &from = cells[step % 2];
        std::vector<float> &to = cells[1 - step % 2];
        for (size_t i = 0; i < N_CELLS; i++)
            to[i] = 0.5f * from[static_cast<size_t>(neighbours[2 * i])] +
                    0.5f * from[static_cast<size_t>(neighbours[2 * i + 1])];
        std::vector<unsigned char> bytes(N_CELLS * sizeof(float));
        std::memcpy(bytes.data(), to.data(), bytes.size());
        stage.fields[2 - step % 2].between.push_back(bytes);
    }
}

/** Launch a kernel over all fields. */
polytile_status launch_over_all(const Stage &stage, polytile_queue *queue, int64_t n_threads,
                                const char *declaration, const polytile_implementation *body,
                                polytile_array **arrays) {
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(create(stage, declaration, body, &kernel));
    return polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(n_threads),
                                 static_cast<int>(stage.fields.size()), arrays, nullptr);
}

polytile_status attach_all(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    SCENE_TRY(stage.wrap_all(arrays));
    return polytile_queue_attach(queue, static_cast<int>(stage.fields.size()), arrays);
}

polytile_status detach_all(const Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    return polytile_queue_detach(queue, static_cast<int>(stage.fields.size()), arrays);
}

/** The second launch finds what the inspector has read. */
polytile_status multiply(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    SCENE_TRY(attach_all(stage, queue, arrays));
    for (int k = 0; k < 2; k++)
        SCENE_TRY(launch_over_all(stage, queue, stage.fields[4].extents[0], rows_text, &rows_kernel,
                                  arrays));
    return detach_all(stage, queue, arrays);
}

polytile_status add_entries(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    SCENE_TRY(attach_all(stage, queue, arrays));
    SCENE_TRY(launch_over_all(stage, queue, N_ENTRIES, entries_text, &entries_kernel, arrays));
    return detach_all(stage, queue, arrays);
}

polytile_status run_permutation(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    SCENE_TRY(attach_all(stage, queue, arrays));
    SCENE_TRY(launch_over_all(stage, queue, N_ENTRIES, "permute[e]: in x[e]; out z[K[e]]",
                              &permute_kernel, arrays));
    return detach_all(stage, queue, arrays);
}

/** The second launch looks up what the first one writes. */
polytile_status make_and_gather(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    polytile_kernel *make = nullptr, *look_up = nullptr;
    SCENE_TRY(attach_all(stage, queue, arrays));
    SCENE_TRY(create(stage, "reverse[e]: out K[e]", &reverse_kernel, &make));
    SCENE_TRY(create(stage, "gather[e]: in x[K[e]]; out z[e]", &gather_kernel, &look_up));
    SCENE_TRY(
        polytile_queue_launch(queue, make, POLYTILE_EXTENTS(N_ENTRIES), 1, &arrays[2], nullptr));
    polytile_array *const looked_up[] = {arrays[0], arrays[2], arrays[1]};
    SCENE_TRY(polytile_queue_launch(queue, look_up, POLYTILE_EXTENTS(N_ENTRIES), LIST(looked_up),
                                    nullptr));
    return detach_all(stage, queue, arrays);
}

/** Steps that are skewed, since neighbours lie in a band. */
polytile_status relax_mesh(Stage &stage, polytile_queue *queue, polytile_array **arrays) {
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(
        create(stage, "relax[i]: in E[i, 0:1], u[E[i, 0:1]]; out v[i]", &relax_kernel, &kernel));
    SCENE_TRY(attach_all(stage, queue, arrays));
    polytile_queue_pause(queue);
    for (int step = 0; step < N_STEPS; step++) {
        polytile_array *const of[] = {arrays[0], arrays[1 + step % 2], arrays[2 - step % 2]};
        SCENE_TRY(
            polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_CELLS), LIST(of), nullptr));
    }
    polytile_queue_resume(queue);
    return detach_all(stage, queue, arrays);
}

/** A plan by each strategy, and one that runs. */
polytile_status plan_rows(Stage &stage) {
    polytile_array *arrays[5] = {};
    polytile_kernel *kernel = nullptr;
    polytile_device *device = nullptr;
    SCENE_TRY(create(stage, rows_text, &rows_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    SCENE_TRY(polytile_device_open(stage.ctx, "host(memory=4KiB,threads=1)", &device));
    for (const char *strategy : {"min-time", "min-traffic", "min-kernels"}) {
        polytile_plan *plan = nullptr;
        polytile_launch_options options = {};
        options.plan.strategy = strategy;
        options.plan.limit_bytes = 4096;
        SCENE_TRY(
            polytile_plan_create(kernel, POLYTILE_EXTENTS(N_ROWS), LIST(arrays), &options, &plan));
        SCENE_TRY(polytile_plan_run(plan, device, kernel, LIST(arrays), nullptr));
        polytile_plan_destroy(plan);
    }
    return POLYTILE_OK;
}

} // namespace

std::vector<Scene> scenes_of_lookups() {
    const auto plan = std::pair<const char *, const char *>{"POLYTILE_CHECK", "plan"};
    const auto access = std::pair<const char *, const char *>{"POLYTILE_CHECK", "access"};
    const char *const one = "host(memory=4KiB,threads=1)",
                      *const two = "host(memory=8KiB,threads=1),host(memory=8KiB,threads=1)";
    return {
        {"PlanRows", prepare_rows, plan_rows, POLYTILE_OK, {}},
        {"QueueOfRows", prepare_rows, on_queue(one, multiply), POLYTILE_OK, {}},
        {"QueueOfRowsChecked", prepare_rows, on_queue(one, multiply), POLYTILE_OK, {plan}},
        {"QueueOfRowsWatched", prepare_few_rows, on_queue(one, multiply), POLYTILE_OK, {access}},
        {"QueueOfRowsOverDevices", prepare_rows, on_queue(two, multiply), POLYTILE_OK, {}},
        {"QueueOfEntries", prepare_entries, on_queue(one, add_entries), POLYTILE_OK, {}},
        {"QueueOfEntriesOverDevices", prepare_entries, on_queue(two, add_entries), POLYTILE_OK, {}},
        {"QueueOfAPermutation",
         prepare_permutation,
         on_queue("host(memory=8KiB)", run_permutation),
         POLYTILE_OK,
         {}},
        {"QueueOfMadeIndices",
         prepare_made,
         on_queue("host(memory=8KiB)", make_and_gather),
         POLYTILE_OK,
         {}},
        {"QueueOfAMesh", prepare_mesh, on_queue(one, relax_mesh), POLYTILE_OK, {}},
        {"QueueOfAMeshChecked", prepare_mesh, on_queue(one, relax_mesh), POLYTILE_OK, {plan}},
    };
}
