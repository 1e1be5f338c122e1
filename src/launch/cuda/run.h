#ifndef POLYTILE_LAUNCH_CUDA_RUN_H
#define POLYTILE_LAUNCH_CUDA_RUN_H

#include "launch/device/device.h"

/* A schedule on a GPU: functions for the device's table. */

polytile_status pti_cuda_begin_stretches(polytile_device *device, const pti_schedule *schedule,
                                         polytile_array *const *arrays);
polytile_status pti_cuda_end_stretches(polytile_device *device);
polytile_status pti_cuda_begin(polytile_device *device, pti_execution *execution);
polytile_status pti_cuda_submit(polytile_device *device, const pti_command *command);
polytile_status pti_cuda_submit_tiles(polytile_device *device, const pti_tile_command *command);
polytile_status pti_cuda_finish(polytile_device *device);

#endif
