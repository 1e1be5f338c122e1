#ifndef POLYTILE_LAUNCH_CUDA_LINK_MEASURE_H
#define POLYTILE_LAUNCH_CUDA_LINK_MEASURE_H

#include "launch/cuda/runtime/cuda.h"

/**
 * Measure the link of a GPU, on its streams, which must be idle; everything is given back.
 *
 * device_bytes: memory to do it with, a multiple of 2 MiB. is_measured: false when CUDA does not
 * have as much, or where the figures cannot be believed, which is warned about. Errors: DEVICE.
 */
polytile_status pti_cuda_measure(pti_cuda_device *cuda, int64_t device_bytes, polytile_link *link,
                                 bool *is_measured);

#endif
