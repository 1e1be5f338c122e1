#include "launch/device/fill.h"

#include "base/checked.h"

/** Return whether a device runs a launch by its launcher for GPUs. */
static bool runs_launcher(const polytile_device *device, const polytile_implementation *launched) {
    return device->cuda_capability != 0 && launched->cuda_launcher != NULL;
}

int64_t pti_device_fill_threads(const polytile_device *device,
                                const polytile_implementation *launched) {
    const int64_t n_lanes = runs_launcher(device, launched) ? pti_max(1, launched->cuda_lanes) : 1;
    return pti_max(1, pti_ceil_div(device->fill_threads, n_lanes));
}

int64_t pti_device_planned_fill_threads(const polytile_device *device,
                                        const polytile_implementation *launched,
                                        const polytile_plan_options *options) {
    if (options->fill_threads > 0)
        return options->fill_threads;
    return runs_launcher(device, launched) && launched->cuda_lanes == 0
               ? 0
               : pti_device_fill_threads(device, launched);
}
