#include "faults/host_scenes.h"
#include "support/chain_launch.h"

#include <cstring>
#include <fstream>
#include <polytile/ranks.h>

/* Scenes of plans and of runs. */

namespace {

/* Plans. */

/** to_string(format, &text) is what prints. */
template <class ToString> polytile_status print_in_all_formats(Stage &stage, ToString to_string) {
    for (polytile_format format : {POLYTILE_TEXT, POLYTILE_JSON, POLYTILE_SVG}) {
        char *text = nullptr;
        SCENE_TRY(to_string(format, &text));
        const bool is_right = stage.prints(text);
        std::free(text);
        if (!is_right)
            return POLYTILE_INTERNAL;
    }
    return POLYTILE_OK;
}

polytile_status print(Stage &stage, const polytile_plan *plan) {
    polytile_plan_summary summary;
    polytile_domain last;
    polytile_plan_get_summary(plan, &summary);
    SCENE_TRY(polytile_plan_get_superblock(plan, summary.n_kernels - 1, &last));
    return print_in_all_formats(stage, [&](polytile_format format, char **text) {
        return polytile_plan_to_string(plan, format, text);
    });
}

polytile_status plan_jacobi(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    for (const char *strategy : {"min-time", "min-traffic", "min-kernels", "paper"}) {
        polytile_plan *plan = nullptr;
        polytile_launch_options options = {};
        options.plan.strategy = strategy;
        options.plan.limit_bytes = 8192;
        SCENE_TRY(polytile_plan_create(kernel, POLYTILE_INTERIOR(1, 40, 40), LIST(arrays), &options,
                                       &plan));
        SCENE_TRY(print(stage, plan));
        polytile_plan_destroy(plan);
    }
    return polytile_check(kernel, POLYTILE_INTERIOR(1, 40, 40), LIST(arrays), nullptr);
}

polytile_status plan_in_braces(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_kernel *kernel = nullptr;
    polytile_plan *plan = nullptr;
    polytile_launch_options options = {};
    options.plan.limit_bytes = 6000;
    SCENE_TRY(create(stage, in_braces, nullptr, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    SCENE_TRY(
        polytile_plan_create(kernel, POLYTILE_EXTENTS(40, 40), LIST(arrays), &options, &plan));
    return print(stage, plan);
}

polytile_status plan_chain(Stage &stage) {
    polytile_array *there[2] = {}, *back[2] = {};
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &there[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &there[1]));
    back[0] = there[1];
    back[1] = there[0];
    polytile_chain_launch launches[6];
    for (int k = 0; k < 6; k++)
        launches[k] =
            chain_launch(kernel, *POLYTILE_INTERIOR(1, 40, 40), k % 2 == 0 ? there : back);
    polytile_plan_options options = {};
    options.limit_bytes = 8192;
    polytile_plan *plan = nullptr;
    SCENE_TRY(polytile_plan_create_chain(6, launches, 1, &there[1], &options, &plan));
    SCENE_TRY(print(stage, plan));
    polytile_plan_destroy(plan);
    options.launches_per_pass = 1;
    SCENE_TRY(polytile_plan_create_chain(6, launches, 0, nullptr, &options, &plan));
    return print(stage, plan);
}

polytile_status print_ranks(Stage &stage, const polytile_ranks_plan *plan) {
    polytile_ranks_summary summary;
    polytile_ranks_plan_get_summary(plan, &summary);
    polytile_chain_summary inner;
    polytile_plan_get_chain_summary(polytile_ranks_plan_get_inner(plan), &inner);
    if (summary.n_ranks != 3 || inner.n_launches < 1)
        return POLYTILE_INTERNAL;
    return print_in_all_formats(stage, [&](polytile_format format, char **text) {
        return polytile_ranks_plan_to_string(plan, format, text);
    });
}

polytile_status plan_ranks(Stage &stage) {
    polytile_array *there[2] = {}, *back[2] = {};
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &there[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &there[1]));
    back[0] = there[1];
    back[1] = there[0];
    const polytile_chain_launch launches[] = {
        chain_launch(kernel, *POLYTILE_INTERIOR(1, 40, 40), there),
        chain_launch(kernel, *POLYTILE_INTERIOR(1, 40, 40), back)};
    polytile_ranks_request request = {};
    request.n_launches = 2;
    request.launches = launches;
    request.n_ranks = 3;
    polytile_ranks_plan *plan = nullptr;
    SCENE_TRY(polytile_ranks_plan_create(&request, &plan));
    SCENE_TRY(print_ranks(stage, plan));
    polytile_ranks_plan_destroy(plan);
    request.n_ranks = 0;
    request.device = "host(memory=1MiB),host(memory=1MiB)+host";
    request.share.layout = "block";
    SCENE_TRY(polytile_ranks_plan_create(&request, &plan));
    SCENE_TRY(print_ranks(stage, plan));
    polytile_ranks_plan_destroy(plan);
    request.device = "cuda:0(memory=1MiB),cuda:1(memory=1MiB),cuda:2(memory=1MiB)";
    request.are_linked = 1;
    SCENE_TRY(polytile_ranks_plan_create(&request, &plan));
    SCENE_TRY(print_ranks(stage, plan));
    polytile_ranks_plan_destroy(plan);
    return POLYTILE_OK;
}

void weigh_alike(const polytile_work *work, double *weights, void *) {
    std::fill(weights, weights + work->n_units, 1.0);
}

polytile_status print_simulation(Stage &stage, const polytile_simulation *simulation) {
    return print_in_all_formats(stage, [&](polytile_format format, char **text) {
        return polytile_simulation_to_string(simulation, format, text);
    });
}

/** The context has the policy already where the scene comes again. */
polytile_status simulate_policies(Stage &stage) {
    static const double speeds[] = {4, 1};
    static const char *const policies[] = {"alike", "weighted(2,1)", "self(2)", "guided"};
    polytile_policy alike = {};
    alike.name = "alike";
    alike.weigh = weigh_alike;
    polytile_simulation_request request = {};
    request.n_units = 2;
    request.speeds = speeds;
    request.n_rows = 40;
    request.n_policies = 4;
    request.policies = policies;
    polytile_simulation *simulation = nullptr;
    polytile_simulated_policy first = {};
    polytile_simulated_unit unit = {};
    const polytile_status registered = polytile_policy_register(stage.ctx, &alike);
    if (registered != POLYTILE_OK && registered != POLYTILE_INVALID)
        return registered;
    SCENE_TRY(polytile_simulation_create(stage.ctx, &request, &simulation));
    SCENE_TRY(polytile_simulation_get_policy(simulation, 0, &first));
    SCENE_TRY(polytile_simulation_get_unit(simulation, 0, 1, &unit));
    const double bound_s = polytile_simulation_get_lower_bound(simulation);
    SCENE_TRY(print_simulation(stage, simulation));
    polytile_simulation_destroy(simulation);
    return first.makespan_s == 20 && unit.n_rows == 20 && bound_s == 8 ? POLYTILE_OK
                                                                       : POLYTILE_INTERNAL;
}

polytile_status plan_what_does_not_fit(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_kernel *kernel = nullptr;
    polytile_plan *plan = nullptr;
    polytile_launch_options options = {};
    options.plan.limit_bytes = 16;
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    return polytile_plan_create(kernel, POLYTILE_INTERIOR(1, 40, 40), LIST(arrays), &options,
                                &plan);
}

polytile_status plan_a_conflict(Stage &stage) {
    polytile_array *array = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(
        create(stage, "inplace[i, j]: in A[i-1, j], A[i+1, j]; out A[i, j]", nullptr, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &array));
    return polytile_check(kernel, POLYTILE_INTERIOR(1, 40, 40),
                          polytile_kernel_get_n_arrays(kernel), &array, nullptr);
}

/* Runs. */

/** A device tells what it was opened with and what it did. */
bool has_run(const polytile_device *device, const char *text) {
    polytile_report report;
    polytile_device_get_report(device, &report);
    return polytile_device_get_link(device)->upload_bytes_per_s > 0 && report.n_kernels > 0 &&
           polytile_device_get_text(device) == std::string(text);
}

polytile_status run_jacobi(Stage &stage, const char *device_text, const char *trace) {
    polytile_array *arrays[2] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_device_open(stage.ctx, device_text, &device));
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    if (trace != nullptr)
        SCENE_TRY(polytile_device_trace(device, stage.path(trace)));
    const polytile_status status =
        polytile_run(device, kernel, POLYTILE_INTERIOR(1, 40, 40), LIST(arrays), nullptr);
    if (status != POLYTILE_OK)
        stage.say();
    const polytile_status finished =
        trace == nullptr ? POLYTILE_OK : polytile_device_trace(device, nullptr);
    SCENE_TRY(status);
    SCENE_TRY(finished);
    const bool is_right = has_run(device, device_text);
    polytile_device_close(device);
    return is_right ? POLYTILE_OK : POLYTILE_INTERNAL;
}

polytile_status run_in_place(Stage &stage) {
    return run_jacobi(stage, "host", nullptr);
}

polytile_status run_in_little_memory(Stage &stage) {
    return run_jacobi(stage, "host(memory=8KiB,threads=2)", nullptr);
}

polytile_status run_traced(Stage &stage) {
    return run_jacobi(stage, "host(memory=8KiB)", "trace.json");
}

/** The trace is that of a run before, which no call fails. */
polytile_status report_trace(Stage &stage) {
    static const char text[] =
        "{\"a\": 1, \"traceEvents\": [{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, "
        "\"args\": {\"name\": \"polytile cuda:0\"}}, {\"ph\": \"M\", \"name\": \"process_name\", "
        "\"pid\": 2, \"args\": {\"name\": \"polytile cuda:0\"}}, {\"ph\": \"X\", \"cat\": "
        "\"launch\", "
        "\"name\": \"launch k\", \"ts\": 0, \"dur\": 5, \"pid\": 1, \"tid\": 1}, {\"ph\": \"X\", "
        "\"cat\": \"upload\", \"name\": \"upload A\", \"ts\": 5, \"dur\": 5, \"pid\": 2, \"tid\": "
        "0}]}";
    const char *path = stage.path("written.json");
    std::ofstream(path) << text;
    polytile_trace *trace = nullptr;
    SCENE_TRY(polytile_trace_read(stage.ctx, path, &trace));
    for (polytile_format format : {POLYTILE_TEXT, POLYTILE_JSON, POLYTILE_HTML}) {
        char *written = nullptr;
        SCENE_TRY(polytile_trace_to_string(trace, format, &written));
        const bool is_same = stage.prints(written);
        free(written);
        if (!is_same)
            return POLYTILE_INTERNAL;
    }
    polytile_trace_destroy(trace);
    return POLYTILE_OK;
}

void prepare_gemm(Stage &stage) {
    stage.add("A", f32, {24, 24}, false);
    stage.add("B", f32, {24, 24}, false);
    stage.add("C", f32, {24, 24}, true);
}

polytile_status run_gemm(Stage &stage) {
    polytile_array *arrays[3] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_plan *plan = nullptr;
    SCENE_TRY(polytile_device_open(stage.ctx, "host(memory=4KiB)", &device));
    SCENE_TRY(create(stage, "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]", &gemm_kernel,
                     &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    polytile_launch_options options = {};
    options.plan.limit_bytes = polytile_device_get_limit(device);
    SCENE_TRY(
        polytile_plan_create(kernel, POLYTILE_EXTENTS(24, 24, 24), LIST(arrays), &options, &plan));
    return polytile_plan_run(plan, device, kernel, LIST(arrays), NULL);
}

polytile_status run_dot(Stage &stage) {
    polytile_array *arrays[3] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_device_open(stage.ctx, "host(threads=2)", &device));
    SCENE_TRY(create(stage, dot_text, &dot_kernel, &kernel));
    SCENE_TRY(stage.wrap_all(arrays));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(5000),
                        polytile_kernel_get_n_arrays(kernel), arrays, nullptr);
}

POLYTILE_KERNEL(top, (i), (const float, x, 1), (pt_f32_i64, s, 1)) {
    PT_ARGMAX(PT_AT(s, 0), PT_AT(x, i), i);
}

void prepare_top(Stage &stage) {
    stage.add("x", POLYTILE_F32, {5000}, false);
    stage.add("s", POLYTILE_INDEXED(POLYTILE_F32), {1}, true);
}

polytile_status run_top(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(create(stage, "top[i]: in x[i]; out argmax s[0]", &top_kernel, &kernel));
    for (size_t k = 0; k < 2; k++)
        SCENE_TRY(stage.wrap(stage.ctx, k, &arrays[k]));
    for (const char *device_text : {"host(threads=2)", "host(memory=4KiB)"}) {
        polytile_device *device = nullptr;
        SCENE_TRY(polytile_device_open(stage.ctx, device_text, &device));
        SCENE_TRY(polytile_run(device, kernel, POLYTILE_EXTENTS(5000), 2, arrays, nullptr));
    }
    return POLYTILE_OK;
}

polytile_status plan_top_of_no_indices(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_kernel *kernel = nullptr;
    polytile_plan *plan = nullptr;
    SCENE_TRY(create(stage, "top[i]: in x[i]; out argmax s[0]", nullptr, &kernel));
    for (size_t k = 0; k < 2; k++)
        SCENE_TRY(stage.wrap(stage.ctx, 2 * k, &arrays[k]));
    return polytile_plan_create(kernel, POLYTILE_EXTENTS(5000), 2, arrays, nullptr, &plan);
}

} // namespace

std::vector<Scene> scenes_of_plans() {
    const auto none = [](Stage &) {};
    const auto plan = std::pair<const char *, const char *>{"POLYTILE_CHECK", "plan"};
    return {
        {"PlanJacobi", prepare_jacobi, plan_jacobi, POLYTILE_OK, {}},
        {"PlanInBraces", prepare_jacobi, plan_in_braces, POLYTILE_OK, {}},
        {"PlanChain", prepare_jacobi, plan_chain, POLYTILE_OK, {}},
        {"PlanRanks", prepare_jacobi, plan_ranks, POLYTILE_OK, {}},
        {"SimulatePolicies", none, simulate_policies, POLYTILE_OK, {}},
        {"PlanWhatDoesNotFit", prepare_jacobi, plan_what_does_not_fit, POLYTILE_NO_FIT, {}},
        {"PlanAConflict", prepare_jacobi, plan_a_conflict, POLYTILE_CONFLICT, {}},
        {"RunInPlace", prepare_jacobi, run_in_place, POLYTILE_OK, {}},
        {"RunInLittleMemory", prepare_jacobi, run_in_little_memory, POLYTILE_OK, {}},
        {"RunChecked", prepare_jacobi, run_in_little_memory, POLYTILE_OK, {plan}},
        {"RunTraced", prepare_jacobi, run_traced, POLYTILE_OK, {}},
        {"ReportTrace", prepare_jacobi, report_trace, POLYTILE_OK, {}},
        {"RunGemm", prepare_gemm, run_gemm, POLYTILE_OK, {}},
        {"RunDot", prepare_dot, run_dot, POLYTILE_OK, {}},
        {"RunTop", prepare_top, run_top, POLYTILE_OK, {}},
        {"PlanTopOfNoIndices", prepare_dot, plan_top_of_no_indices, POLYTILE_INVALID, {}},
    };
}
