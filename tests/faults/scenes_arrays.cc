#include "faults/host_scenes.h"

#include <cstring>

/* Scenes of arrays, files and devices. */

namespace {

void prepare_views(Stage &stage) {
    stage.add("x", f32, {100}, false);
}

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

polytile_status load_table(Stage &stage) {
    (void)stage;
    return polytile_tuning_load(stage.ctx, POLYTILE_SOURCE_DIR "/data/tuning.json");
}

} // namespace

std::vector<Scene> scenes_of_arrays() {
    const auto none = [](Stage &) {};
    return {
        {"MakeArrays", prepare_add, make_arrays, POLYTILE_OK, {}},
        {"WrapADomain", prepare_add, wrap_a_domain, POLYTILE_OK, {}},
        {"MakeViews", prepare_add, make_views, POLYTILE_OK, {}},
        {"LaunchOverViews", prepare_views, launch_over_views, POLYTILE_OK, {}},
        {"ShareByALayoutOfOnesOwn", prepare_views, share_by_a_layout_of_ones_own, POLYTILE_OK, {}},
        {"ListDevices", none, list_devices, POLYTILE_OK, {}},
        {"UseFiles", prepare_add, use_files, POLYTILE_OK, {}},
        {"LoadTable", none, load_table, POLYTILE_OK, {}},
    };
}
