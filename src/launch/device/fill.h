#ifndef POLYTILE_LAUNCH_DEVICE_FILL_H
#define POLYTILE_LAUNCH_DEVICE_FILL_H

#include "launch/device/device.h"

/** Return how many threads of a launch fill a device: with fewer at a time a part of it is idle. Of
 * a GPU's launchers, cuda_lanes says how many CUDA threads run one. */
int64_t pti_device_fill_threads(const polytile_device *device,
                                const polytile_implementation *launched);

/** Return how many are to fill it in a plan: as the options say, or else as above; 0, not known, of
 * a GPU's launcher that does not say how many CUDA threads run one. */
int64_t pti_device_planned_fill_threads(const polytile_device *device,
                                        const polytile_implementation *launched,
                                        const polytile_plan_options *options);

#endif
