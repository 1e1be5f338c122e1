#ifndef POLYTILE_LAUNCH_DEVICE_FILL_H
#define POLYTILE_LAUNCH_DEVICE_FILL_H

#include "launch/device/device.h"

/** Return how many threads of a launch fill a device: with fewer at a time a part of it is idle. Of
 * a GPU's launchers, cuda_lanes says how many CUDA threads run one. */
int64_t pti_device_fill_threads(const polytile_device *device,
                                const polytile_implementation *launched);

#endif
