#ifndef POLYTILE_LAUNCH_CUDA_LINK_H
#define POLYTILE_LAUNCH_CUDA_LINK_H

#include "launch/cuda/cuda.h"

/**
 * The link of a GPU: measured in this process or by an earlier one, else measured now and kept.
 *
 * Measuring takes about 50 ms, and device memory of at most max_device_bytes for as long. With too
 * little for a fair measurement (docs/planning.md) the link is polytile_link_default, and nothing is
 * kept. Errors: DEVICE, NO_MEMORY. A cache that cannot be read or written is a warning.
 */
polytile_status pti_cuda_link(pti_cuda_device *cuda, const struct cudaDeviceProp *properties,
                              int64_t max_device_bytes, polytile_link *link);

#endif
