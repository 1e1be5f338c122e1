#include "launch/cuda/cuda.h"
polytile_status pti_cuda_list(polytile_context *ctx, int capacity, polytile_device_info *infos, int *n_devices) { (void)ctx; (void)capacity; (void)infos; (void)n_devices; return POLYTILE_OK; }
