#define POLYTILE_RECORD_ACCESS
#include "faults/scene.h"
#include "launch/kernels.h"
#include "support/chain_launch.h"
#include "support/list.h"

#include <cstring>

/* Scenes of the checks of kernels against their declarations, and of chains. */

namespace {

const char *const jacobi_text = "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";

/** What says nothing of its accesses: B[i] = A[i] + A[i+1]. */
void add_next(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto at = [&](int view, int64_t i) {
        return reinterpret_cast<float *>(static_cast<char *>(views[view].origin) +
                                         i * views[view].stride_bytes[0]);
    };
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        *at(1, i) = *at(0, i) + *at(0, i + 1);
}

/** A kernel on a device, and the fields that it is run over. */
struct Launch {
    polytile_device *device;
    polytile_kernel *kernel;
    polytile_array *arrays[2];
};

polytile_status make(Stage &stage, const char *device_text, const char *declaration,
                     const polytile_implementation &implementation, Launch *made) {
    *made = {};
    SCENE_TRY(polytile_device_open(stage.ctx, device_text, &made->device));
    SCENE_TRY(polytile_kernel_create(stage.ctx, declaration, &implementation, &made->kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &made->arrays[0]));
    return stage.wrap(stage.ctx, 1, &made->arrays[1]);
}

polytile_implementation quiet() {
    polytile_implementation of = {};
    of.host = add_next;
    return of;
}

void prepare_small(Stage &stage) {
    stage.add("A", POLYTILE_F32, {8, 8}, true);
    stage.add("B", POLYTILE_F32, {8, 8}, true);
}

void prepare_rows(Stage &stage) {
    stage.add("A", POLYTILE_F32, {21}, false);
    stage.add("B", POLYTILE_F32, {21}, true);
}

polytile_status check_jacobi(Stage &stage, const char *device_text) {
    Launch of;
    polytile_check_report report;
    SCENE_TRY(make(stage, device_text, jacobi_text, jacobi_kernel, &of));
    const polytile_status status =
        polytile_check_run(of.device, of.kernel, POLYTILE_INTERIOR(1, 8, 8),
                           polytile_kernel_get_n_arrays(of.kernel), of.arrays, nullptr, &report);
    return status == POLYTILE_OK && report.n_alone != 36 ? POLYTILE_INTERNAL : status;
}

polytile_status check_in_place(Stage &stage) {
    return check_jacobi(stage, "host(threads=1)");
}

polytile_status check_in_little_memory(Stage &stage) {
    return check_jacobi(stage, "host(memory=1KiB,threads=1)");
}

/** A read that the declaration does not have is found, and looked for in ever smaller boxes. */
polytile_status check_what_is_too_narrow(Stage &stage) {
    Launch of;
    polytile_check_report report = {};
    SCENE_TRY(make(stage, "host(threads=1)", "next[i]: in A[i]; out B[i]", quiet(), &of));
    const polytile_status status =
        polytile_check_run(of.device, of.kernel, POLYTILE_EXTENTS(20),
                           polytile_kernel_get_n_arrays(of.kernel), of.arrays, nullptr, &report);
    const bool is_told = report.violation == POLYTILE_READS_UNDECLARED;
    return status == POLYTILE_INVALID && !is_told ? POLYTILE_INTERNAL : status;
}

polytile_status count_use(Stage &stage, const polytile_implementation &implementation,
                          bool is_told) {
    Launch of;
    polytile_use uses[2];
    SCENE_TRY(make(stage, "host(threads=1)", "next[i]: in A[:]; out B[i]", implementation, &of));
    SCENE_TRY(polytile_check_use(of.device, of.kernel, POLYTILE_EXTENTS(20),
                                 polytile_kernel_get_n_arrays(of.kernel), of.arrays, nullptr,
                                 uses));
    return uses[0].is_recorded == is_told ? POLYTILE_OK : POLYTILE_INTERNAL;
}

POLYTILE_KERNEL(next, (i), (const float, A, 1), (float, B, 1)) {
    PT_AT(B, i) = PT_AT(A, i) + PT_AT(A, i + 1);
}

polytile_status count_what_is_told(Stage &stage) {
    return count_use(stage, next_kernel, true);
}

polytile_status count_what_shows(Stage &stage) {
    return count_use(stage, quiet(), false);
}

/** Steps of two kernels over arrays that change places, one of them scratch. */
polytile_status check_chain(Stage &stage) {
    polytile_kernel *smooth = nullptr, *copy = nullptr;
    polytile_array *there[2] = {}, *back[2] = {};
    SCENE_TRY(polytile_kernel_create(stage.ctx, jacobi_text, &jacobi_kernel, &smooth));
    SCENE_TRY(
        polytile_kernel_create(stage.ctx, "copy[i, j]: in A[i, j]; out B[i, j]", nullptr, &copy));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &there[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &there[1]));
    back[0] = there[1];
    back[1] = there[0];
    const polytile_chain_launch launches[] = {
        chain_launch(copy, *POLYTILE_EXTENTS(8, 8), there),
        chain_launch(smooth, *POLYTILE_INTERIOR(1, 8, 8), back),
        chain_launch(smooth, *POLYTILE_INTERIOR(1, 8, 8), there)};
    return polytile_check_chain(3, launches, 1, &there[1], nullptr);
}

/** The first launch reads scratch memory that nothing has written. */
polytile_status check_a_chain_without_values(Stage &stage) {
    polytile_kernel *copy = nullptr;
    polytile_array *arrays[2] = {};
    polytile_witness witness;
    SCENE_TRY(
        polytile_kernel_create(stage.ctx, "copy[i, j]: in A[i, j]; out B[i, j]", nullptr, &copy));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
    const polytile_chain_launch launch = chain_launch(copy, *POLYTILE_EXTENTS(8, 8), arrays);
    const polytile_status status = polytile_check_chain(1, &launch, 1, &arrays[0], nullptr);
    const bool has_witness = polytile_last_witness(stage.ctx, &witness);
    return status == POLYTILE_DECLARATION && !has_witness ? POLYTILE_INTERNAL : status;
}

polytile_status find_footprint(Stage &stage) {
    polytile_kernel *far = nullptr;
    polytile_array *arrays[2] = {};
    polytile_footprint *footprint = nullptr;
    SCENE_TRY(polytile_kernel_create(stage.ctx, "far[i]: in A[i], A[20-i], A[10]; out B[i]",
                                     nullptr, &far));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
    SCENE_TRY(
        polytile_footprint_create(far, POLYTILE_EXTENTS(3), LIST(arrays), nullptr, &footprint));
    const bool has_three = polytile_footprint_get_array(footprint, 0)->n_pieces == 3;
    polytile_footprint_destroy(footprint);
    return has_three ? POLYTILE_OK : POLYTILE_INTERNAL;
}

/** Plan one launch over an array of its own. */
polytile_status plan_within(Stage &stage, const char *declaration,
                            const polytile_implementation *implementation,
                            const polytile_domain *threads, int64_t limit_bytes) {
    polytile_kernel *kernel = nullptr;
    polytile_array *x = nullptr;
    polytile_plan *plan = nullptr;
    polytile_launch_options options = {};
    options.plan.limit_bytes = limit_bytes;
    SCENE_TRY(polytile_kernel_create(stage.ctx, declaration, implementation, &kernel));
    SCENE_TRY(polytile_array_describe(stage.ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(4096), &x));
    return polytile_plan_create(kernel, threads, 1, &x, &options, &plan);
}

/** More stretches than are written as boxes: united for the launch, and parted again. */
polytile_status plan_in_pieces(Stage &stage) {
    return plan_within(stage, "w[g, k]: inout x[32*g+k], x[32*g+k+16]", nullptr,
                       POLYTILE_EXTENTS(66, 16), 64);
}

/** A launcher that would get a few threads at a time. */
polytile_status refuse_by_hand(Stage &stage) {
    polytile_implementation by_hand = {};
    by_hand.host_launcher = [](const polytile_sub_kernel *) { return 0; };
    return plan_within(stage, "w[k]: inout x[k], x[k+257]", &by_hand, POLYTILE_EXTENTS(257), 1028);
}

polytile_status run_small(Stage &stage) {
    Launch of;
    SCENE_TRY(make(stage, "host(memory=1KiB,threads=1)", jacobi_text, jacobi_kernel, &of));
    return polytile_run(of.device, of.kernel, POLYTILE_INTERIOR(1, 8, 8),
                        polytile_kernel_get_n_arrays(of.kernel), of.arrays, nullptr);
}

polytile_status launch_small(Stage &stage) {
    Launch of;
    polytile_queue *queue = nullptr;
    SCENE_TRY(make(stage, "host(threads=1)", jacobi_text, jacobi_kernel, &of));
    SCENE_TRY(polytile_queue_create(stage.ctx, "host(threads=1)", &queue));
    SCENE_TRY(polytile_queue_attach(queue, 2, of.arrays));
    const polytile_status status =
        polytile_queue_launch(queue, of.kernel, POLYTILE_INTERIOR(1, 8, 8), 2, of.arrays, nullptr);
    if (status != POLYTILE_OK)
        stage.say();
    const polytile_status detached = polytile_queue_detach(queue, 2, of.arrays);
    return status == POLYTILE_OK ? detached : status;
}

} // namespace

std::vector<Scene> scenes_of_checks() {
    const auto access = std::pair<const char *, const char *>{"POLYTILE_CHECK", "access"};
    const auto wide = std::pair<const char *, const char *>{"POLYTILE_CHECK", "access,wide"};
    return {
        {"CheckRun", prepare_small, check_in_place, POLYTILE_OK, {}},
        {"CheckRunInLittleMemory", prepare_small, check_in_little_memory, POLYTILE_OK, {}},
        {"CheckWhatIsTooNarrow", prepare_rows, check_what_is_too_narrow, POLYTILE_INVALID, {}},
        {"CountWhatIsTold", prepare_rows, count_what_is_told, POLYTILE_OK, {}},
        {"CountWhatShows", prepare_rows, count_what_shows, POLYTILE_OK, {}},
        {"CheckChain", prepare_small, check_chain, POLYTILE_OK, {}},
        {"CheckAChainWithoutValues",
         prepare_small,
         check_a_chain_without_values,
         POLYTILE_DECLARATION,
         {}},
        {"FindFootprint", prepare_rows, find_footprint, POLYTILE_OK, {}},
        {"PlanInPieces", prepare_rows, plan_in_pieces, POLYTILE_OK, {}},
        {"RefuseByHand", prepare_rows, refuse_by_hand, POLYTILE_NO_FIT, {}},
        {"RunCheckedByAccess", prepare_small, run_small, POLYTILE_OK, {access}},
        {"RunCheckedForWidth", prepare_small, run_small, POLYTILE_OK, {wide}},
        {"QueueCheckedByAccess", prepare_small, launch_small, POLYTILE_OK, {access}},
    };
}
