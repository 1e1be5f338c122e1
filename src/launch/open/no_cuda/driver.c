#include "launch/cuda/driver.h"

/* Stands in for CUDA in a library that was built without it. */

static polytile_status open_without_cuda(polytile_context *ctx, const pti_device_text *text,
                                         polytile_device **device) {
    *device = NULL;
    return pti_fail(
        ctx, POLYTILE_UNSUPPORTED,
        "cuda:%lld: this library was built without CUDA; build it where CMake finds the "
        "CUDA Toolkit (12 or newer), or use host",
        (long long)text->number);
}

static polytile_status list_none(polytile_context *ctx, int capacity, polytile_device_info *infos,
                                 int *n_devices) {
    (void)ctx;
    (void)capacity;
    (void)infos;
    (void)n_devices;
    return POLYTILE_OK;
}

const pti_driver pti_cuda_driver = {
    .name = "cuda",
    .forms = "cuda:K, cuda:K(memory=SIZE,threads=N,streams=N) (left out of this build)",
    .is_numbered = true,
    .options = pti_cuda_options,
    .n_options = PTI_N_OPTIONS,
    .open = open_without_cuda,
    .list = list_none,
};
