#include "faults/scene.h"
#include "launch/kernels.h"
#include "support/chain_launch.h"
#include "support/list.h"

#include <algorithm>
#include <cstring>
#include <isl/map.h>
#include <isl/options.h>
#include <polytile/isl.h>
#include <polytile/ranks.h>
#include <thread>

namespace {

const polytile_type f32 = POLYTILE_F32;

const char *const jacobi_text = "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const char *const in_braces =
    "any[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]";

polytile_status create(const Stage &stage, const char *declaration,
                       const polytile_implementation *implementation, polytile_kernel **kernel) {
    return polytile_kernel_create(stage.ctx, declaration, implementation, kernel);
}

/* Declarations. */

/** What a kernel that was declared tells of itself. */
bool tells_of_itself(const polytile_kernel *kernel) {
    bool is_named = *polytile_kernel_get_name(kernel) != '\0';
    for (int a = 0; a < polytile_kernel_get_n_arrays(kernel); a++)
        is_named = is_named && *polytile_kernel_get_array_name(kernel, a) != '\0' &&
                   polytile_kernel_get_array_role(kernel, a) != POLYTILE_SCRATCH;
    for (int v = 0; v < polytile_kernel_get_n_views(kernel); v++)
        is_named = is_named && *polytile_kernel_get_view_name(kernel, v) != '\0';
    for (int p = 0; p < polytile_kernel_get_n_parameters(kernel); p++)
        is_named = is_named && *polytile_kernel_get_parameter_name(kernel, p) != '\0' &&
                   polytile_kernel_get_parameter_type(kernel, p) == POLYTILE_I64;
    for (int k = 0; k < polytile_kernel_get_n_accesses(kernel); k++)
        is_named = is_named && polytile_kernel_get_access_array(kernel, k) >= 0;
    return is_named && polytile_kernel_get_n_indices(kernel) > 0;
}

polytile_status declare_texts(Stage &stage) {
    for (const char *text : {
             jacobi_text,
             in_braces,
             "dot[i]: in x[i], y[i]; out sum s[0]",
             "odd[i]: in x[1:n-1:2]; out y[i]",
             "hankel[i, j]: in h[i+j]; out H[i, j]",
             "step[i]: in {[i] -> x[a] : exists e : a = 3*e and i <= a <= i + 6}; out y[i]",
         }) {
        polytile_kernel *kernel = nullptr;
        SCENE_TRY(create(stage, text, nullptr, &kernel));
        if (!tells_of_itself(kernel))
            return POLYTILE_INTERNAL;
        const polytile_character character = {POLYTILE_COALESCING_FULL, POLYTILE_LEVEL_LOW,
                                              POLYTILE_LEVEL_LOW, POLYTILE_LEVEL_HIGH};
        SCENE_TRY(polytile_kernel_characterise(kernel, &character));
    }
    return POLYTILE_OK;
}

polytile_status declare_by_calls(Stage &stage) {
    const char *const indices[] = {"i", "j"};
    const char *const parameters[] = {"n"};
    polytile_declaration *declaration = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_subscript row = {}, whole = {};
    row.lo.index[0] = row.hi.index[0] = 1;
    row.step = whole.step = 1;
    whole.from_first = whole.to_last = true;
    const polytile_subscript subscripts[] = {row, whole};
    SCENE_TRY(
        polytile_declaration_create(stage.ctx, "built", 2, indices, 1, parameters, &declaration));
    SCENE_TRY(polytile_declaration_add_parameter(declaration, POLYTILE_F32, "a"));
    SCENE_TRY(polytile_declaration_add(declaration, POLYTILE_IN, false, "A", 2, subscripts));
    SCENE_TRY(polytile_declaration_add(declaration, POLYTILE_SUM, true, "s", 1, &row));
    SCENE_TRY(polytile_declaration_add_scratch(declaration, POLYTILE_F32, "w", 1, &row));
    SCENE_TRY(polytile_kernel_create_from(declaration, nullptr, &kernel));
    polytile_declaration_destroy(declaration);
    polytile_kernel_destroy(kernel);
    return POLYTILE_OK;
}

/** A kernel's isl map handed to another declaration, in an isl context of the program's own. */
polytile_status pass_isl_map(Stage &stage, isl_ctx *isl) {
    const char *const indices[] = {"i", "j"};
    polytile_kernel *kernel = nullptr, *copy = nullptr;
    polytile_declaration *declaration = nullptr;
    isl_map *map = nullptr;
    SCENE_TRY(create(stage, in_braces, nullptr, &kernel));
    SCENE_TRY(
        polytile_declaration_create(stage.ctx, "built", 2, indices, 0, nullptr, &declaration));
    SCENE_TRY(polytile_kernel_copy_isl_map(kernel, 0, isl, &map));
    const polytile_status status =
        polytile_declaration_add_isl_map(declaration, POLYTILE_IN, false, "A", map);
    isl_map_free(map);
    SCENE_TRY(status);
    return polytile_kernel_create_from(declaration, nullptr, &copy);
}

polytile_status declare_isl_maps(Stage &stage) {
    isl_ctx *isl = isl_ctx_alloc();
    if (isl == nullptr)
        return POLYTILE_NO_MEMORY;
    isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
    const polytile_status status = pass_isl_map(stage, isl);
    isl_ctx_free(isl);
    return status;
}

polytile_status declare_wrongly(Stage &stage) {
    polytile_kernel *kernel = nullptr;
    return create(stage, "add[i]: in x[i], y[i*i]; out z[i]", nullptr, &kernel);
}

/* Arrays and files. */

polytile_status make_arrays(Stage &stage) {
    polytile_array *array = nullptr, *described = nullptr;
    const polytile_domain domain = *POLYTILE_EXTENTS(100, 100);
    SCENE_TRY(stage.wrap(stage.ctx, 0, &array));
    SCENE_TRY(polytile_array_describe(stage.ctx, "large", f32, &domain, &described));
    polytile_array_destroy(described);
    return POLYTILE_OK;
}

/** An array whose indices begin below 0, and all that can be asked of one. */
polytile_status wrap_a_domain(Stage &stage) {
    Field &field = stage.fields[0];
    polytile_array *array = nullptr;
    const int64_t lo[] = {-1, 0}, hi[] = {8, 99};
    const polytile_domain domain = polytile_domain_from_bounds(2, lo, hi);
    SCENE_TRY(polytile_array_wrap_domain(stage.ctx, field.name.c_str(), field.type, &domain,
                                         field.memory.data(), &array));
    field.array = array;
    const bool is_right = polytile_array_get_name(array) == field.name &&
                          polytile_array_get_type(array) == field.type &&
                          polytile_array_get_domain(array)->range[0].lo == -1 &&
                          polytile_array_get_data(array) == field.memory.data();
    return is_right ? POLYTILE_OK : POLYTILE_INTERNAL;
}

void prepare_views(Stage &stage) {
    stage.add("x", f32, {100}, false);
}

/** Rows with a pitch, every second of which is a view, and rows that are split. */
polytile_status make_views(Stage &stage) {
    Field &field = stage.fields[0];
    const int64_t stride_bytes[] = {40, 4};
    const polytile_domain rows = *POLYTILE_EXTENTS(10, 8);
    const polytile_domain even = {2, {{0, 8, 2}, {0, 7, 1}}}, split = *POLYTILE_EXTENTS(10, 2, 4);
    polytile_array *view = nullptr, *on_gpu = nullptr;
    SCENE_TRY(polytile_array_wrap_strides(stage.ctx, field.name.c_str(), field.type, &rows,
                                          stride_bytes, field.memory.data(), &field.array));
    SCENE_TRY(polytile_array_select(field.array, "even", &even, &view));
    SCENE_TRY(polytile_array_reshape(field.array, "split", &split, &view));
    const polytile_device_memory there = {field.memory.data(), stride_bytes, nullptr, true, {}};
    SCENE_TRY(polytile_array_wrap_device(stage.ctx, "there", field.type, &rows, &there, &on_gpu));
    return polytile_array_get_base(view) == field.array &&
                   polytile_array_get_stride_bytes(view, 1) == 16 &&
                   polytile_array_get_data(on_gpu) == nullptr
               ? POLYTILE_OK
               : POLYTILE_INTERNAL;
}

/** A launch through a queue over a view of what is attached, and one by itself over another. */
polytile_status launch_over_views(Stage &stage) {
    const polytile_domain even = {1, {{0, 98, 2}}}, split = *POLYTILE_EXTENTS(10, 10);
    polytile_array *x = nullptr, *views[2] = {};
    polytile_kernel *kernels[2] = {};
    polytile_queue *queue = nullptr;
    polytile_device *device = nullptr;
    polytile_implementation none = {};
    none.host = [](const polytile_domain *, const polytile_view *, void *) {};
    SCENE_TRY(stage.wrap(stage.ctx, 0, &x));
    SCENE_TRY(polytile_array_select(x, "even", &even, &views[0]));
    SCENE_TRY(polytile_array_reshape(x, "split", &split, &views[1]));
    SCENE_TRY(polytile_kernel_create(stage.ctx, "even[i]: in x[2*i]", &none, &kernels[0]));
    SCENE_TRY(polytile_kernel_create(stage.ctx, "split[i]: in x[i, :]", &none, &kernels[1]));
    SCENE_TRY(polytile_device_open(stage.ctx, "host(memory=256B,threads=1)", &device));
    SCENE_TRY(polytile_run(device, kernels[0], POLYTILE_EXTENTS(50), 1, &views[0], nullptr));
    SCENE_TRY(polytile_queue_create(stage.ctx, "host(memory=256B,threads=1)", &queue));
    SCENE_TRY(polytile_queue_attach(queue, 1, &x));
    polytile_status status =
        polytile_queue_launch(queue, kernels[1], POLYTILE_EXTENTS(10), 1, &views[1], nullptr);
    if (status != POLYTILE_OK)
        stage.say();
    const polytile_status detached = polytile_queue_detach(queue, 1, &x);
    return status == POLYTILE_OK ? detached : status;
}

polytile_status list_devices(Stage &stage) {
    polytile_device_info infos[16];
    int n_devices = 0;
    SCENE_TRY(polytile_devices_list(stage.ctx, 16, infos, &n_devices));
    return n_devices > 0 && std::strcmp(infos[0].text, "host") == 0 ? POLYTILE_OK
                                                                    : POLYTILE_INTERNAL;
}

polytile_status run_add(Stage &stage, polytile_array *const *arrays, const char *device_text) {
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_device_open(stage.ctx, device_text, &device));
    SCENE_TRY(create(stage, "add[i]: in x[i], y[i]; out z[i]", &add_kernel, &kernel));
    return polytile_run(device, kernel, POLYTILE_EXTENTS(1000),
                        polytile_kernel_get_n_arrays(kernel), arrays, nullptr);
}

polytile_status fill_file(Stage &stage, polytile_array *const *arrays) {
    SCENE_TRY(run_add(stage, arrays, "host"));
    SCENE_TRY(polytile_npy_finish(arrays[2]));
    return POLYTILE_OK;
}

/** Sums go to a file that is made anew, over an old one, and are read back. */
polytile_status use_files(Stage &stage) {
    polytile_array *arrays[3] = {};
    const polytile_domain domain = *POLYTILE_EXTENTS(1000);
    const char *path = stage.path("z.npy");
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
    SCENE_TRY(polytile_npy_create(stage.ctx, "z", path, f32, &domain, &arrays[2]));
    const polytile_status filled = fill_file(stage, arrays);
    polytile_npy_abandon(arrays[2]);
    polytile_array_destroy(arrays[2]);
    SCENE_TRY(filled);
    SCENE_TRY(polytile_npy_open(stage.ctx, "x", path, false, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 2, &arrays[2]));
    return run_add(stage, arrays, "host(memory=4KiB)");
}

void prepare_add(Stage &stage) {
    stage.add("x", f32, {1000}, false);
    stage.add("y", f32, {1000}, false);
    stage.add("z", f32, {1000}, true);
}

/* Plans. */

void prepare_jacobi(Stage &stage) {
    stage.add("A", f32, {40, 40}, true);
    stage.add("B", f32, {40, 40}, true);
}

polytile_status print(Stage &stage, const polytile_plan *plan) {
    polytile_plan_summary summary;
    polytile_domain last;
    polytile_plan_get_summary(plan, &summary);
    SCENE_TRY(polytile_plan_get_superblock(plan, summary.n_kernels - 1, &last));
    for (polytile_format format : {POLYTILE_TEXT, POLYTILE_JSON, POLYTILE_SVG}) {
        char *text = nullptr;
        SCENE_TRY(polytile_plan_to_string(plan, format, &text));
        const bool is_right = stage.prints(text);
        std::free(text);
        if (!is_right)
            return POLYTILE_INTERNAL;
    }
    return POLYTILE_OK;
}

polytile_status plan_jacobi(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
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
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
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
    for (polytile_format format : {POLYTILE_TEXT, POLYTILE_JSON, POLYTILE_SVG}) {
        char *text = nullptr;
        SCENE_TRY(polytile_ranks_plan_to_string(plan, format, &text));
        const bool is_right = stage.prints(text);
        std::free(text);
        if (!is_right)
            return POLYTILE_INTERNAL;
    }
    return POLYTILE_OK;
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
    return POLYTILE_OK;
}

void weigh_alike(const polytile_work *work, double *weights, void *) {
    std::fill(weights, weights + work->n_units, 1.0);
}

polytile_status print_simulation(Stage &stage, const polytile_simulation *simulation) {
    for (polytile_format format : {POLYTILE_TEXT, POLYTILE_JSON, POLYTILE_SVG}) {
        char *text = nullptr;
        SCENE_TRY(polytile_simulation_to_string(simulation, format, &text));
        const bool is_right = stage.prints(text);
        std::free(text);
        if (!is_right)
            return POLYTILE_INTERNAL;
    }
    return POLYTILE_OK;
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

/** All but the last element are the first part's. */
int own_nearly_all(const polytile_layout_dimension *of, int64_t index, int64_t *last, void *) {
    *last = of->last - (index < of->last ? 1 : 0);
    return index < of->last ? 0 : of->n_parts - 1;
}

polytile_status share_by_a_layout_of_ones_own(Stage &stage) {
    polytile_layout own = {};
    polytile_share_options share = {};
    polytile_queue *queue = nullptr;
    polytile_array *x = nullptr;
    own.name = "own";
    own.find_owner = own_nearly_all;
    share.layout = "own(1)";
    const polytile_status registered = polytile_layout_register(stage.ctx, &own);
    if (registered != POLYTILE_OK && registered != POLYTILE_INVALID)
        return registered;
    SCENE_TRY(stage.wrap(stage.ctx, 0, &x));
    SCENE_TRY(
        polytile_queue_create_shared(stage.ctx, "host(threads=1),host(threads=1)", &share, &queue));
    SCENE_TRY(polytile_queue_attach(queue, 1, &x));
    return polytile_queue_detach(queue, 1, &x);
}

polytile_status plan_what_does_not_fit(Stage &stage) {
    polytile_array *arrays[2] = {};
    polytile_kernel *kernel = nullptr;
    polytile_plan *plan = nullptr;
    polytile_launch_options options = {};
    options.plan.limit_bytes = 16;
    SCENE_TRY(create(stage, jacobi_text, &jacobi_kernel, &kernel));
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
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
    SCENE_TRY(stage.wrap(stage.ctx, 0, &arrays[0]));
    SCENE_TRY(stage.wrap(stage.ctx, 1, &arrays[1]));
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
    for (size_t k = 0; k < 3; k++)
        SCENE_TRY(stage.wrap(stage.ctx, k, &arrays[k]));
    polytile_launch_options options = {};
    options.plan.limit_bytes = polytile_device_get_limit(device);
    SCENE_TRY(
        polytile_plan_create(kernel, POLYTILE_EXTENTS(24, 24, 24), LIST(arrays), &options, &plan));
    return polytile_plan_run(plan, device, kernel, LIST(arrays), NULL);
}

void prepare_dot(Stage &stage) {
    stage.add("x", POLYTILE_F64, {5000}, false);
    stage.add("y", POLYTILE_F64, {5000}, false);
    stage.add("s", POLYTILE_F64, {1}, true);
}

polytile_status run_dot(Stage &stage) {
    polytile_array *arrays[3] = {};
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    SCENE_TRY(polytile_device_open(stage.ctx, "host(threads=2)", &device));
    SCENE_TRY(create(stage, "dot[i]: in x[i], y[i]; out sum s[0]", &dot_kernel, &kernel));
    for (size_t k = 0; k < 3; k++)
        SCENE_TRY(stage.wrap(stage.ctx, k, &arrays[k]));
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

/* Queues. */

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

/** After a failure arrays are detached one by one, so that fields are the program's again. */
void hand_back(polytile_queue *queue, polytile_array *const *arrays, int n_arrays) {
    for (int k = 0; k < n_arrays; k++)
        if (arrays[k] != nullptr)
            (void)polytile_queue_detach(queue, 1, &arrays[k]);
}

polytile_status use_queue(Stage &stage, const char *device_text, bool with_scratch,
                          const char *layout = nullptr) {
    const polytile_share_options options = {nullptr, layout, nullptr, 0, {}};
    polytile_queue *queue = nullptr;
    polytile_report report;
    SCENE_TRY(polytile_queue_create_shared(stage.ctx, device_text, &options, &queue));
    polytile_array *arrays[2] = {};
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
    SCENE_TRY(create(stage, "dot[i]: in x[i], y[i]; out sum s[0]", &dot_kernel, &kernel));
    for (size_t k = 0; k < 3; k++)
        SCENE_TRY(stage.wrap(stage.ctx, k, &arrays[k]));
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

/* Tuning tables. */

polytile_status load_table(Stage &stage) {
    (void)stage;
    return polytile_tuning_load(stage.ctx, POLYTILE_SOURCE_DIR "/data/tuning.json");
}

} // namespace

std::vector<Scene> scenes_on_host() {
    auto none = [](Stage &) {};
    auto none_but_plan = std::pair<const char *, const char *>{"POLYTILE_CHECK", "plan"};
    auto guards = std::pair<const char *, const char *>{"POLYTILE_CHECK", "attach"};
    return {
        {"DeclareTexts", none, declare_texts, POLYTILE_OK, {}},
        {"DeclareByCalls", none, declare_by_calls, POLYTILE_OK, {}},
        {"DeclareIslMaps", none, declare_isl_maps, POLYTILE_OK, {}},
        {"DeclareWrongly", none, declare_wrongly, POLYTILE_DECLARATION, {}},
        {"MakeArrays", prepare_add, make_arrays, POLYTILE_OK, {}},
        {"WrapADomain", prepare_add, wrap_a_domain, POLYTILE_OK, {}},
        {"MakeViews", prepare_add, make_views, POLYTILE_OK, {}},
        {"LaunchOverViews", prepare_views, launch_over_views, POLYTILE_OK, {}},
        {"ShareByALayoutOfOnesOwn", prepare_views, share_by_a_layout_of_ones_own, POLYTILE_OK, {}},
        {"ListDevices", none, list_devices, POLYTILE_OK, {}},
        {"UseFiles", prepare_add, use_files, POLYTILE_OK, {}},
        {"PlanJacobi", prepare_jacobi, plan_jacobi, POLYTILE_OK, {}},
        {"PlanInBraces", prepare_jacobi, plan_in_braces, POLYTILE_OK, {}},
        {"PlanChain", prepare_jacobi, plan_chain, POLYTILE_OK, {}},
        {"PlanRanks", prepare_jacobi, plan_ranks, POLYTILE_OK, {}},
        {"SimulatePolicies", none, simulate_policies, POLYTILE_OK, {}},
        {"PlanWhatDoesNotFit", prepare_jacobi, plan_what_does_not_fit, POLYTILE_NO_FIT, {}},
        {"PlanAConflict", prepare_jacobi, plan_a_conflict, POLYTILE_CONFLICT, {}},
        {"RunInPlace", prepare_jacobi, run_in_place, POLYTILE_OK, {}},
        {"RunInLittleMemory", prepare_jacobi, run_in_little_memory, POLYTILE_OK, {}},
        {"RunChecked", prepare_jacobi, run_in_little_memory, POLYTILE_OK, {none_but_plan}},
        {"RunTraced", prepare_jacobi, run_traced, POLYTILE_OK, {}},
        {"RunGemm", prepare_gemm, run_gemm, POLYTILE_OK, {}},
        {"RunDot", prepare_dot, run_dot, POLYTILE_OK, {}},
        {"RunTop", prepare_top, run_top, POLYTILE_OK, {}},
        {"PlanTopOfNoIndices", prepare_dot, plan_top_of_no_indices, POLYTILE_INVALID, {}},
        {"QueueInPlace", prepare_steps, queue_in_place, POLYTILE_OK, {}},
        {"QueueInLittleMemory", prepare_steps, queue_in_little_memory, POLYTILE_OK, {}},
        {"QueueChecked", prepare_steps, queue_in_little_memory, POLYTILE_OK, {none_but_plan}},
        {"QueueGuarded", prepare_steps, queue_in_place, POLYTILE_OK, {guards}},
        {"QueueOfScratch", prepare_steps, queue_of_scratch_in_place, POLYTILE_OK, {}},
        {"QueueOverDevices", prepare_steps, queue_over_devices, POLYTILE_OK, {}},
        {"QueueOverDevicesChecked",
         prepare_steps,
         queue_over_devices,
         POLYTILE_OK,
         {none_but_plan}},
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
        {"ReduceOverDevicesChecked",
         prepare_dot,
         reduce_over_devices,
         POLYTILE_OK,
         {none_but_plan}},
        {"LoadTable", none, load_table, POLYTILE_OK, {}},
    };
}
