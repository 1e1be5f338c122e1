#ifndef POLYTILE_LAUNCH_CUDA_LINK_H
#define POLYTILE_LAUNCH_CUDA_LINK_H

#include "launch/cuda/runtime/cuda.h"

/**
 * Find the link of a GPU, as this process or an earlier one measured it; else measure it.
 *
 * Measuring takes about 50 ms on the device's streams, which must be idle, and at most
 * max_device_bytes of device memory. A link measured with less than PTI_CUDA_LINK_BYTES is kept in
 * this process, for devices with as little, and not on disk. With too little memory the link is
 * polytile_link_default, and nothing is kept. Errors: DEVICE. A cache that cannot be read or
 * written is a warning.
 */
polytile_status pti_cuda_link(pti_cuda_device *cuda, const struct cudaDeviceProp *properties,
                              int64_t max_device_bytes, polytile_link *link);

/**
 * Measure the link of a GPU on its streams, which must be idle; frees all it takes.
 *
 * device_bytes: memory to use, a multiple of 2 MiB. is_measured: false if CUDA has less, or the
 * figures are implausible, which is a warning. Errors: DEVICE.
 */
polytile_status pti_cuda_measure(pti_cuda_device *cuda, int64_t device_bytes, polytile_link *link,
                                 bool *is_measured);

/** The device memory of a full measurement. */
enum { PTI_CUDA_LINK_BYTES = 128 << 20 };

#endif
