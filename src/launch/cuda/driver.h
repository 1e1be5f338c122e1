#ifndef POLYTILE_LAUNCH_CUDA_DRIVER_H
#define POLYTILE_LAUNCH_CUDA_DRIVER_H

#include "launch/device/device.h"

/** The driver of GPUs. In builds without CUDA launch/open/no_cuda has one that refuses all. */
extern const pti_driver pti_cuda_driver;

/** Its functions, see pti_driver: open.c opens a GPU, driver.c lists all. */
polytile_status pti_cuda_open(polytile_context *ctx, const pti_device_text *text,
                              polytile_device **device);
polytile_status pti_cuda_list(polytile_context *ctx, int capacity, polytile_device_info *infos,
                              int *n_devices);

#endif
