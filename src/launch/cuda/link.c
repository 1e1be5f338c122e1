#include "launch/cuda/link.h"
polytile_status pti_cuda_link(pti_cuda_device *cuda, const struct cudaDeviceProp *properties, int64_t max_device_bytes, polytile_link *link) { (void)cuda; (void)properties; (void)max_device_bytes; *link = polytile_link_default; return POLYTILE_OK; }
