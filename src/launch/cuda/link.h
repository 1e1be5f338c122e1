#ifndef POLYTILE_LAUNCH_CUDA_LINK_H
#define POLYTILE_LAUNCH_CUDA_LINK_H

#include "launch/cuda/runtime/cuda.h"

/**
 * The link of a GPU: measured in this process or by an earlier one, else measured now.
 *
 * Measuring takes about 50 ms on the device's streams, which must be idle, and device memory of at
 * most max_device_bytes for as long. What was measured with less than PTI_CUDA_LINK_BYTES is kept
 * for devices with as little in this process, and not on disk. With too little for a fair
 * measurement, or when CUDA has no memory for it, the link is polytile_link_default, and nothing is
 * kept. Errors: DEVICE. A cache that cannot be read or written is a warning.
 */
polytile_status pti_cuda_link(pti_cuda_device *cuda, const struct cudaDeviceProp *properties,
                              int64_t max_device_bytes, polytile_link *link);

/** Device memory of a full measurement. */
enum { PTI_CUDA_LINK_BYTES = 128 << 20 };

#endif
