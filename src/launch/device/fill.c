#include "launch/device/fill.h"

#include "base/checked.h"

static int64_t count_lanes(const polytile_device *device, const polytile_implementation *launched) {
    return device->cuda_capability == 0 || launched->cuda_launcher == NULL
               ? 1
               : pti_max(1, launched->cuda_lanes);
}

int64_t pti_device_fill_threads(const polytile_device *device,
                                const polytile_implementation *launched) {
    return pti_max(1, pti_ceil_div(device->fill_threads, count_lanes(device, launched)));
}
