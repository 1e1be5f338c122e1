#include "launch/cuda/driver.h"

#include "launch/cuda/runtime/fault.h"

#include <stdio.h>

/* The driver of GPUs, and the GPUs of this machine for polytile_devices_list(). */

/** Write "NVIDIA H200, compute capability 9.0, CUDA 12.9 (driver: 13.0)". */
static void describe_gpu(const pti_cuda_api *api, const struct cudaDeviceProp *properties,
                         polytile_device_info *info) {
    int driver = 0, runtime = CUDART_VERSION;
    if (api->cudaDriverGetVersion(&driver) != cudaSuccess)
        api->cudaGetLastError();
    snprintf(info->description, sizeof info->description,
             "%.40s, compute capability %d.%d, CUDA %d.%d (driver: %d.%d)", properties->name,
             properties->major, properties->minor, runtime / 1000, runtime % 1000 / 10,
             driver / 1000, driver % 1000 / 10);
    info->memory_bytes = (int64_t)properties->totalGlobalMem;
}

/** Find the link that plans for the device assume; this opens the device. */
static void find_link(polytile_context *ctx, int number, polytile_device_info *info) {
    const pti_device_text text = {.driver = &pti_cuda_driver, .number = number};
    polytile_device *device = NULL;
    if (pti_cuda_open(ctx, &text, &device) == POLYTILE_OK) {
        info->link = device->link;
        device->functions->close(device);
    } else {
        snprintf(info->description, sizeof info->description, "cannot be used: %s",
                 polytile_last_error(ctx));
    }
    pti_clear_error(ctx);
}

static void fill_info(polytile_context *ctx, const pti_cuda_api *api, int number,
                      polytile_device_info *info) {
    struct cudaDeviceProp properties;
    *info = (polytile_device_info){0};
    snprintf(info->text, sizeof info->text, "cuda:%d", number);
    if (api->cudaGetDeviceProperties(&properties, number) == cudaSuccess)
        describe_gpu(api, &properties, info);
    else
        api->cudaGetLastError();
    find_link(ctx, number, info);
}

/** Return how many GPUs to list. If CUDA fails to count them, although there is a driver and a GPU,
 * list the first GPU with the reason. */
static int count_gpus(const pti_cuda_api *api) {
    int n_gpus = 0;
    switch (pti_cuda_count_gpus(api, &n_gpus)) {
    case cudaSuccess:
        return n_gpus;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
        return 0;
    default:
        return 1;
    }
}

/** List GPUs: none without a driver or a GPU; the entry of a GPU that cannot be used says why. */
polytile_status pti_cuda_list(polytile_context *ctx, int capacity, polytile_device_info *infos,
                              int *n_devices) {
    const pti_cuda_api *api = pti_cuda_current_api;
    int n_gpus = count_gpus(api);
    for (int k = 0; k < n_gpus; k++, ++*n_devices) {
        if (*n_devices < capacity)
            fill_info(ctx, api, k, &infos[*n_devices]);
    }
    return POLYTILE_OK;
}

const pti_driver pti_cuda_driver = {
    .name = "cuda",
    .forms = "cuda:K, cuda:K(memory=SIZE,threads=N,streams=N)",
    .is_numbered = true,
    .options = pti_cuda_options,
    .n_options = PTI_N_OPTIONS,
    .open = pti_cuda_open,
    .list = pti_cuda_list,
};
